//! `/access`: who may do what, read from the table that the guard reads.

use askama::Template;
use axum::http::Method;

use super::error::Result;
use super::layout::Layout;
use super::route_builder::Stated;
use super::{paths, respond};
use crate::accounts::Role;

/// A part of the site as people know it. Which routes it is made of decides who may use it.
struct Area {
    what: &'static str,
    /// Addresses at, or below, these.
    below: &'static [&'static str],
    /// Only what reads, only what writes, or both.
    writes: Option<bool>,
    /// What a lead gets to see where they may look at all.
    lead: &'static str,
}

const AREAS: &[Area] = &[
    Area {
        what: "The overview, spend, charges down to the row of the file, and their CSV and JSON",
        below: &["/", "/overview", "/spend", "/variance", "/tokens", "/charges"],
        writes: None,
        lead: "rows of their teams only",
    },
    Area {
        what: "Budgets, with spend and forecast",
        below: &["/budgets"],
        writes: Some(false),
        lead: "rows of their teams only",
    },
    Area { what: "Budgets: add, change, end, remove", below: &["/budgets"], writes: Some(true), lead: "yes" },
    Area {
        what: "Quantities and unit costs: enter, import, remove",
        below: &["/quantities"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Unallocated charges and suggested rules",
        below: &["/unallocated"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Teams: charges, changes, shared costs and statements; experiments",
        below: &["/teams", "/chargeback", "/experiments"],
        writes: Some(false),
        lead: "rows of their teams only",
    },
    Area {
        what: "Experiments: propose to rename, assign or merge",
        below: &["/experiments"],
        writes: Some(true),
        lead: "yes",
    },
    Area {
        what: "Jobs: who held which GPUs, and what that cost",
        below: &["/jobs"],
        writes: None,
        lead: "rows of their teams only",
    },
    Area { what: "Usage: what schedulers say, and undo", below: &["/usage"], writes: None, lead: "yes" },
    Area {
        what: "Usage: match nodes to machines, say where clocks stand, and add a Prometheus",
        below: &["/usage/nodes", "/usage/sources", "/usage/prometheus/new", "/usage/prometheus/test"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Usage: see how a Prometheus is read",
        below: &["/usage/prometheus"],
        writes: Some(false),
        lead: "yes",
    },
    Area {
        what: "Usage: change a Prometheus, read it again, and remove it",
        below: &["/usage/prometheus"],
        writes: Some(true),
        lead: "yes",
    },
    Area {
        what: "Imports: upload, preview, decide, undo; rejected rows and original files",
        below: &["/imports"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Imports: see which imports need review",
        below: &["/imports/limits", "/imports/review"],
        writes: Some(false),
        lead: "yes",
    },
    Area {
        what: "Imports: change which imports need review",
        below: &["/imports/limits", "/imports/review"],
        writes: Some(true),
        lead: "yes",
    },
    Area {
        what: "Catalog: machines and models, additions, and what is not recognized",
        below: &["/catalog", "/catalog/additions"],
        writes: Some(false),
        lead: "yes",
    },
    Area {
        what: "Catalog: add machines and names, undo additions",
        below: &["/catalog/new", "/catalog/additions"],
        writes: Some(true),
        lead: "yes",
    },
    Area { what: "Catalog: preview an addition", below: &["/catalog/new"], writes: Some(false), lead: "yes" },
    Area {
        what: "Mappings: how files are read that no format knows",
        below: &["/mappings"],
        writes: None,
        lead: "yes",
    },
    Area { what: "Storage: see disk usage", below: &["/storage"], writes: Some(false), lead: "yes" },
    Area {
        what: "Storage: archive inactive imports, and set when; limit uploads",
        below: &["/storage"],
        writes: Some(true),
        lead: "yes",
    },
    Area {
        what: "Invoices: compare with months, enter, remove",
        below: &["/invoices"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Allocation: see and propose rules, shared costs, organization and labels",
        below: &["/rules", "/shared-costs", "/organization", "/labels"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Changes of allocation, asset register and prices: see, propose, discard",
        below: &["/changes", "/asset-register/changes", "/prices/changes"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "On-prem clusters: see costs, publish, import and undo meter readings, propose changes of the asset register",
        below: &["/clusters", "/asset-register"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Changes: apply and undo",
        below: &["/changes/{kind}/{change}/apply", "/changes/{kind}/{change}/undo"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Scenarios: start, change, save, share, remove",
        below: &["/scenarios"],
        writes: None,
        lead: "their own, and those that are shared with them",
    },
    Area {
        what: "Rate cards: enter, import, apply and undo agreed rates; see unpriced usage",
        below: &["/rate-cards"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Adjustments: enter, apply and undo discounts, markups and monthly minimums",
        below: &["/adjustments"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "Prices: market prices of accelerators",
        below: &["/prices"],
        writes: None,
        lead: "market prices only",
    },
    Area {
        what: "Token prices: enter, remove and restore",
        below: &["/prices/tokens"],
        writes: Some(true),
        lead: "yes",
    },
    Area {
        what: "Prices: propose to enter, import or remove",
        below: &["/prices/new", "/prices/file", "/prices/offers"],
        writes: None,
        lead: "yes",
    },
    Area { what: "Exchange rates and the reporting currency", below: &["/rates"], writes: None, lead: "yes" },
    Area { what: "The state of the server, for monitoring", below: &["/metrics"], writes: None, lead: "yes" },
    Area {
        what: "Their own account: password, sessions, API tokens, appearance; this page and the glossary",
        below: &["/account", "/access", "/glossary"],
        writes: None,
        lead: "yes",
    },
    Area {
        what: "People: accounts, roles, teams, password links, others’ sessions and tokens",
        below: &["/people"],
        writes: None,
        lead: "yes",
    },
    Area { what: "The audit trail", below: &["/audit"], writes: None, lead: "yes" },
];

/// A line of the page: what each role may, and whether scripts may read it with a token.
struct Line {
    what: &'static str,
    cells: [&'static str; 3],
    scripts: bool,
}

#[derive(Template)]
#[template(path = "people/access.html")]
struct Page {
    layout: Layout,
    lines: Vec<Line>,
}

pub async fn show(_: paths::WhoMay, layout: Layout) -> Result {
    let routes = super::routes();
    let lines = AREAS.iter().map(|area| area.line(routes.stated())).collect();
    respond::html(Page { layout, lines })
}

impl Area {
    /// How much of a route's path says that it belongs here; `None` where it does not. Of several areas the one that
    /// says most has it.
    fn fits(&self, line: &Stated) -> Option<usize> {
        let is_below = |prefix: &&&str| {
            let rest = line.path.strip_prefix(**prefix);
            rest.is_some_and(|rest| rest.is_empty() || (**prefix != "/" && rest.starts_with('/')))
        };
        let is_writing = line.method != Method::GET;
        let prefixes = self.below.iter().filter(is_below).map(|prefix| prefix.len());
        prefixes.max().filter(|_| self.writes.is_none_or(|writes| writes == is_writing))
    }

    fn holds(&self, line: &Stated) -> bool {
        let fits = self.fits(line);
        fits.is_some() && AREAS.iter().all(|area| area.fits(line) <= fits)
    }

    /// A role may what all of the area's routes admit it to.
    fn line(&self, stated: &[Stated]) -> Line {
        let own: Vec<_> = stated.iter().filter(|line| self.holds(line)).collect();
        let may = |role: Role| !own.is_empty() && own.iter().all(|line| line.access.admits(Some(role)));
        let cell = |role: Role| match (may(role), role) {
            (false, _) => "no",
            (true, Role::Lead) => self.lead,
            (true, _) => "yes",
        };
        Line {
            what: self.what,
            cells: Role::ALL.map(cell),
            scripts: own.iter().any(|line| line.is_for_scripts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::Access;

    /// What the page says is what the guard does: every route that asks who it is belongs to one line, and a
    /// line has no route that answers others than it says.
    #[test]
    fn the_page_tells_of_every_route_and_of_each_the_truth() {
        let routes = crate::web::routes();
        for line in routes.stated() {
            let areas: Vec<_> = AREAS.iter().filter(|area| area.holds(line)).collect();
            let is_open = matches!(line.access, Access::Static | Access::Public);
            assert_eq!(
                areas.len(),
                usize::from(!is_open),
                "{} {} stands in one area",
                line.method,
                line.path
            );
            for area in areas {
                let cells = area.line(routes.stated()).cells;
                let said = Role::ALL.iter().zip(cells).map(|(role, cell)| (*role, cell != "no"));
                for (role, may) in said {
                    assert_eq!(
                        line.access.admits(Some(role)),
                        may,
                        "{} {} for {role}",
                        line.method,
                        line.path
                    );
                }
            }
        }
    }

    #[test]
    fn a_lead_is_never_told_that_they_see_everything_where_figures_are() {
        let routes = crate::web::routes();
        for area in AREAS {
            let line = area.line(routes.stated());
            if line.scripts && line.cells[2] != "no" {
                let some = [
                    "rows of their teams only",
                    "their own, and those that are shared with them",
                    "market prices only",
                ];
                assert!(some.contains(&line.cells[2]), "{}", area.what);
            }
        }
    }
}
