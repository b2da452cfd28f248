"use strict";
// Tables are sorted and filtered; without this script they are whole and in the order of the study.
for (const table of document.querySelectorAll("#tables table.data")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const headers = [...table.tHead.rows[0].cells];

  const compare = (index, numeric, sign) => (a, b) => {
    const [x, y] = [a.cells[index], b.cells[index]];
    if (!numeric) return sign * x.textContent.localeCompare(y.textContent, "en", { numeric: true });
    const [u, v] = [x.dataset.key, y.dataset.key];
    if (u === undefined || v === undefined) return (u === undefined) - (v === undefined); // missing ones stay last
    return sign * (Number(u) - Number(v));
  };

  headers.forEach((header, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[header.getAttribute("aria-sort")] || "ascending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      const rows = [...original];
      if (next !== "none") {
        header.setAttribute("aria-sort", next);
        rows.sort(compare(index, header.classList.contains("number"), next === "ascending" ? 1 : -1));
      }
      body.append(...rows);
    });
  });

  if (original.length < 8) continue;
  const label = document.createElement("label");
  label.className = "filter";
  const field = document.createElement("input");
  field.type = "search";
  field.autocomplete = "off";
  const count = document.createElement("span");
  count.setAttribute("role", "status");
  label.append("Show rows with ", field, " ", count);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of original) {
      const text = [...row.cells].map((cell) => `${cell.textContent} ${cell.title}`).join(" ").toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${original.length}` : "";
  });
  table.closest(".scroll").before(label);
}
