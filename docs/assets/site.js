// What axe-core asks for and the theme leaves out: a name for the search, and tables that the
// keyboard can scroll. document$ tells of each page that the theme shows.
document$.subscribe(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    table.tabIndex = 0;
    table.setAttribute("role", "region");
    table.setAttribute("aria-label", "Table");
  }
});
