"""The analyses of studies: how stored replicates become hypotheses.

A test of tables or of cross-validated runs is a record of `sigstats.tasks.statistical_tests`. An analysis that reads
other replicates, or makes rows of several tests, is a module with the function ``rows(results)``: every hypothesis of
the test in a study, in the order of the plan. One whose replicates are missing has ``decision="missing"``. The fields
that all tests share are added by `sigstats.tasks.summary.summarize`.
"""
