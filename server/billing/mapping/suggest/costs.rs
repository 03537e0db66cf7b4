//! Which of the columns with amounts is the cost, and which its tax.
//!
//! Names alone do not tell: a price per hour may be called `Amount`, a `Total` may hold the tax or the sum of all rows so far.
//! So columns are compared with one another first, and what is explained by others falls out:
//!
//! 1. a quantity times a price is a cost: the price is none;
//! 2. an amount that grows by another one in each row is a running total;
//! 3. a tax whose sum with one amount is another one says which of the two is net.
//!
//! Of what is left, net goes before amounts of no more precise name, these before totals, and gross comes last.

use super::cells;
use super::laws::{
    is_left_of, is_product, is_product_and_tax, is_same, is_sum, is_sum_of_others, rises, rows, runs,
};
use super::names::Role;
use super::table::{Column, Table};
use crate::money::Decimal;

#[derive(Debug, Default)]
pub(super) struct Costs {
    pub cost: Option<usize>,
    pub tax: Option<usize>,
    pub quantity: Option<usize>,
    pub questions: Vec<String>,
}

/// Names of a cost, the best first. A price may be the cost where nothing else is.
const RANKS: [Role; 6] = [Role::Net, Role::Amount, Role::Total, Role::Price, Role::Gross, Role::RunningTotal];
/// Columns that are compared: no invoice has as many.
const MOST: usize = 40;

pub(super) fn find(table: &Table<'_>) -> Costs {
    let mut costs = Costs::default();
    let mut amounts = at(table, |column| column.is_amounts && column.is_nameable);
    amounts.truncate(MOST);
    let mut quantities = quantities(table);
    quantities.truncate(MOST / 4);
    let is_price = |price: usize| {
        quantities.iter().any(|quantity| {
            amounts.iter().any(|cost| *cost != price && is_product(table, [*quantity, price], *cost))
        })
    };
    let mut candidates: Vec<usize> =
        amounts.iter().copied().filter(|at| rank(table, *at).is_some()).collect();
    candidates.sort_by_key(|at| place(rank(table, *at)));
    candidates.retain(|at| !is_price(*at));
    if candidates.is_empty() {
        candidates = unnamed(table, &amounts, &quantities);
        candidates.retain(|at| !is_price(*at));
    }
    let running: Vec<usize> = candidates.iter().copied().filter(|at| runs(table, *at, &amounts)).collect();
    if running.len() < candidates.len() {
        candidates.retain(|at| !running.contains(at));
    }
    costs.tax = tax(table, &mut costs.questions);
    costs.choose(table, &candidates, &amounts, &quantities);
    costs.quantity = quantity(table, &quantities, costs.cost, &mut costs.questions);
    costs.ask_about_cost(table);
    costs
}

fn at(table: &Table<'_>, is: impl Fn(&Column<'_>) -> bool) -> Vec<usize> {
    (0..table.columns.len()).filter(|at| is(&table.columns[*at])).collect()
}

/// The most precise name of a cost that a column has, and of others the best.
fn rank(table: &Table<'_>, at: usize) -> Option<Role> {
    use Role::{AcceleratorCount, Deduction, GpuHours, Hours, Quantity, Tax, TaxRate, Unit, UnitPrice};
    let column = &table.columns[at];
    // What is named as something else that is counted is no cost by its second name: `Total hours`, `Net price per hour`.
    let is_other = matches!(
        column.meanings.first()?.role,
        UnitPrice | TaxRate | Tax | Deduction | GpuHours | Hours | Quantity | AcceleratorCount | Unit
    );
    // `Total incl. tax` is a total, and more precisely gross.
    let precise = [Role::RunningTotal, Role::Net, Role::Gross].into_iter();
    precise.chain(RANKS).find(|role| !is_other && column.has(*role))
}

/// For sorting.
fn place(rank: Option<Role>) -> usize {
    RANKS.iter().position(|role| Some(*role) == rank).unwrap_or(RANKS.len())
}

/// Columns that hold money by their looks, where no name says so.
fn unnamed(table: &Table<'_>, amounts: &[usize], quantities: &[usize]) -> Vec<usize> {
    let is_money = |cell: &str| {
        cells::currency(cell).is_some()
            || cells::readings(cell).iter().flatten().any(|amount| amount.scale() == 2)
    };
    let is_unknown = |at: &usize| table.columns[*at].meanings.is_empty() && !quantities.contains(at);
    amounts.iter().copied().filter(is_unknown).filter(|at| table.columns[*at].are_mostly(is_money)).collect()
}

impl Costs {
    fn choose(&mut self, table: &Table<'_>, candidates: &[usize], amounts: &[usize], quantities: &[usize]) {
        let Some(best) = candidates.first().copied() else { return };
        self.cost = Some(best);
        if let Some(tax) = self.tax {
            let others = || amounts.iter().copied().filter(|at| *at != tax);
            let net = candidates.iter().find(|net| others().any(|gross| is_sum(table, [**net, tax], gross)));
            if let Some(net) = net {
                self.cost = Some(*net);
                return;
            }
            if rank(table, best) == Some(Role::Gross)
                || is_product_and_tax(table, quantities, amounts, tax, best)
            {
                self.tax = None;
                self.questions.push(format!(
                    "{} holds the tax of {}, so the tax is not counted once more: both are one charge.",
                    table.columns[best].quoted(),
                    table.columns[tax].quoted()
                ));
                return;
            }
        }
        self.choose_of_several(table, candidates);
    }

    /// Where several could be the cost: the sum of all others, the one that is left of another, and else the first is, with a
    /// question.
    fn choose_of_several(&mut self, table: &Table<'_>, candidates: &[usize]) {
        let Some(best) = candidates.first().copied() else { return };
        let differs = |at: &usize| !is_same(table, *at, best);
        let is_rival = |at: &usize| {
            let (best, other) = (rank(table, best), rank(table, *at));
            best == other || best != Some(Role::Net) && matches!(other, Some(Role::Amount | Role::Total))
        };
        let rivals: Vec<usize> = candidates[1..].iter().copied().filter(is_rival).filter(differs).collect();
        if rivals.is_empty() {
            return;
        }
        let all: Vec<usize> = [vec![best], rivals.clone()].concat();
        if let Some(sum) = all.iter().find(|sum| all.len() > 2 && is_sum_of_others(table, **sum, &all)) {
            self.cost = Some(*sum);
            return;
        }
        let deductions = at(table, |column| column.is_amounts && column.has(Role::Deduction));
        let is_left = |net: &&usize| {
            deductions
                .iter()
                .any(|off| all.iter().any(|list| list != *net && is_left_of(table, [*list, *off], **net)))
        };
        if let Some(net) = all.iter().find(is_left) {
            self.cost = Some(*net);
            return;
        }
        let (best, rivals) =
            (table.columns[best].quoted(), rivals.iter().map(|at| table.columns[*at].quoted()));
        let rivals: Vec<String> = rivals.collect();
        self.questions.push(format!("{best} is taken as the cost; {} could be, too.", rivals.join(" or ")));
    }

    fn ask_about_cost(&mut self, table: &Table<'_>) {
        let Some(cost) = self.cost else {
            self.questions.push(no_cost(table, self.quantity.is_some()));
            return;
        };
        let column = &table.columns[cost];
        let is_price = column.meanings.first().is_some_and(|first| first.role == Role::Price);
        // Nothing that is a quantity times another price is one.
        let is_product = |quantity: usize| {
            let prices = at(table, |column| column.is_amounts).into_iter().take(MOST);
            prices.filter(|at| *at != cost).any(|price| is_product(table, [quantity, price], cost))
        };
        if is_price && self.quantity.is_some_and(|quantity| !is_product(quantity)) {
            self.questions.push(format!(
                "{} is taken as the cost of a row: check that it is no price per unit.",
                column.quoted()
            ));
        }
        if rises(table, cost) || rank(table, cost) == Some(Role::RunningTotal) {
            self.questions.push(format!(
                "{} may be a running total, which counts every charge again in each row below it.",
                column.quoted()
            ));
        }
    }
}

/// What is said where no column is the cost. Usage may have none: its quantity is priced by rate cards where somebody says so.
fn no_cost(table: &Table<'_>, has_quantity: bool) -> String {
    let named = at(table, |column| RANKS.iter().any(|role| column.has(*role)));
    let unreadable = named.iter().find_map(|at| {
        let column = &table.columns[*at];
        Some((column, column.filled().find(|cell| cells::readings(cell).iter().all(Option::is_none))?))
    });
    match unreadable {
        Some((column, cell)) => format!(
            "{} is named as a cost and holds {}, which is no amount: choose the column of the cost.",
            column.quoted(),
            cells::quoted(cell)
        ),
        None if has_quantity => {
            "No column looks like the cost of a row: choose it, or say that the file states no cost."
                .to_owned()
        }
        None => "No column looks like the cost of a row: choose it.".to_owned(),
    }
}

/// The column of tax in money.
fn tax(table: &Table<'_>, questions: &mut Vec<String>) -> Option<usize> {
    let is_first = |at: &usize| table.columns[*at].meanings.first().is_some_and(|it| it.role == Role::Tax);
    let taxes: Vec<usize> = table.of_role(Role::Tax).into_iter().filter(is_first).collect();
    let taxes: Vec<usize> = taxes.into_iter().filter(|at| table.columns[*at].is_amounts).collect();
    let (rates, taxes): (Vec<usize>, Vec<usize>) = taxes.into_iter().partition(|at| is_rate(table, *at));
    if let (Some(rate), true) = (rates.first(), taxes.is_empty()) {
        questions.push(format!(
            "{} looks like a rate, the same in rows of any cost, and is not used as tax.",
            table.columns[*rate].quoted()
        ));
    }
    let tax = *taxes.first()?;
    if let Some(other) = taxes.iter().skip(1).find(|at| !is_same(table, **at, tax)) {
        let (used, other) = (table.columns[tax].quoted(), table.columns[*other].quoted());
        questions.push(format!("{used} and {other} are both taxes: only {used} is counted."));
    }
    Some(tax)
}

/// Whether a column of tax holds the same percentage whatever a row costs.
fn is_rate(table: &Table<'_>, tax: usize) -> bool {
    let rates: Vec<Decimal> = table.columns[tax].amounts.iter().flatten().copied().collect();
    let nonzero: Vec<Decimal> = rates.into_iter().filter(|rate| !rate.is_zero()).collect();
    let Some(first) = nonzero.first() else { return false };
    let mut costs = at(table, |column| column.is_amounts && RANKS.iter().any(|role| column.has(*role)));
    costs.truncate(MOST);
    let varies = |at: &usize| {
        let mut with_tax = rows(table, [*at, tax]).filter(|[_, tax]| !tax.is_zero()).map(|[cost, _]| cost);
        with_tax.next().is_some_and(|first| with_tax.any(|cost| cost != first))
    };
    nonzero.len() > 1
        && nonzero.iter().all(|rate| rate == first)
        && *first <= Decimal::from(100)
        && costs.iter().any(varies)
}

/// Columns that count something, in plain numbers.
fn quantities(table: &Table<'_>) -> Vec<usize> {
    use Role::{Amount, Deduction, Gross, Net, Price, Tax, TaxRate, UnitPrice};
    let of_role = [Role::GpuHours, Role::Hours, Role::Quantity].map(|role| table.of_role(role)).concat();
    let mut found: Vec<usize> = Vec::new();
    for at in of_role {
        let column = &table.columns[at];
        let is_plain = !column.filled().any(|cell| cells::currency(cell).is_some());
        // `Price per GPU hour` counts no hours.
        let is_money =
            [UnitPrice, Price, TaxRate, Tax, Net, Gross, Deduction, Amount].iter().any(|it| column.has(*it));
        if column.is_amounts && is_plain && !is_money && !found.contains(&at) {
            found.push(at);
        }
    }
    found
}

/// The quantity that is paid for: the one that is part of the cost, or else hours before what else is counted.
fn quantity(
    table: &Table<'_>,
    quantities: &[usize],
    cost: Option<usize>,
    questions: &mut Vec<String>,
) -> Option<usize> {
    let mut prices = at(table, |column| column.is_amounts);
    prices.truncate(MOST);
    let is_paid = |quantity: &&usize| {
        let cost = cost.filter(|cost| cost != *quantity);
        let mut prices = prices.iter().filter(|price| *price != *quantity && Some(**price) != cost);
        cost.is_some_and(|cost| prices.any(|price| is_product(table, [**quantity, *price], cost)))
    };
    let paid = quantities.iter().find(is_paid);
    let chosen = *paid.or_else(|| quantities.first())?;
    let varies = |at: &&usize| table.columns[**at].amounts.iter().flatten().any(|it| *it != Decimal::from(1));
    let other = quantities.iter().filter(|at| **at != chosen && !is_same(table, **at, chosen)).find(varies);
    if let (Some(other), None) = (other, paid) {
        let (chosen, other) = (table.columns[chosen].quoted(), table.columns[*other].quoted());
        questions.push(format!(
            "{chosen} and {other} both count something: only {chosen} is used as the quantity."
        ));
    }
    Some(chosen)
}
