"""One model against a bar: the rule, its tests, and the result in words."""
