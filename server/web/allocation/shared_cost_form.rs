//! The form of a pool: what was typed, who can take part, and what it says.

use super::{month, problem};
use crate::allocation::{
    Configuration, Entry, FixedShare, Hours, HoursOf, Months, Recipient, SharedCostPool, Split, handle_of,
};
use crate::changes::Problem;
use crate::money::Decimal;
use crate::period::BillingMonth;

/// Ways to divide a pool: a word of the form, its name, and what it means.
pub const SPLITS: [(&str, &str, &str); 8] = [
    (
        "direct-cost",
        "In proportion to direct cost",
        "by each team’s direct effective cost, in the reporting currency",
    ),
    ("evenly", "Evenly", "the same for every team without sub-teams"),
    ("fixed", "By fixed shares", "by the percentages below, which total 100"),
    ("accelerator-hours", "In proportion to GPU-hours", "by each team’s cloud and on-prem GPU-hours"),
    (
        "owned-hours",
        "In proportion to on-prem GPU-hours",
        "by each team’s on-prem GPU-hours; cloud hours do not count",
    ),
    (
        "paid-hours",
        "In proportion to cloud GPU-hours",
        "by each team’s cloud GPU-hours; on-prem hours do not count",
    ),
    ("quantity", "In proportion to a quantity", "by the quantities entered for the month"),
    (
        "who-used-it",
        "By usage",
        "for commitments and credits: by the usage they cover, or of the same account",
    ),
];

/// The words of hours among them.
fn word(of: HoursOf) -> &'static str {
    match of {
        HoursOf::All => "accelerator-hours",
        HoursOf::Owned => "owned-hours",
        HoursOf::PaidFor => "paid-hours",
    }
}

/// What was typed: pairs as they came.
pub struct PoolForm {
    pub pairs: Vec<(String, String)>,
}

/// Somebody who can take part.
pub struct Candidate {
    pub key: String,
    pub name: String,
    pub is_pool: bool,
    /// The names of the teams inside it.
    pub inside: Vec<String>,
}

impl Candidate {
    /// Everybody but the pool of this handle, teams first.
    pub fn all(configuration: &Configuration, but: &str) -> Vec<Self> {
        let inside = |handle: &str| {
            let teams = configuration.entries.values().filter_map(|entry| match entry {
                Entry::Team(it) if it.parent.as_deref() == Some(handle) => Some(it.name.clone()),
                _ => None,
            });
            let mut teams: Vec<String> = teams.collect();
            teams.sort();
            teams.dedup();
            teams
        };
        let mut candidates: Vec<Self> = Vec::new();
        for entry in configuration.entries.values() {
            let (key, name, is_pool, inside) = match entry {
                Entry::Team(it) => (format!("team:{}", it.handle), &it.name, false, inside(&it.handle)),
                Entry::Pool(it) if it.handle != but => {
                    (format!("pool:{}", it.handle), &it.name, true, Vec::new())
                }
                _ => continue,
            };
            if !candidates.iter().any(|known| known.key == key) {
                candidates.push(Self { key, name: name.clone(), is_pool, inside });
            }
        }
        candidates.sort_by(|a, b| (a.is_pool, &a.name).cmp(&(b.is_pool, &b.name)));
        candidates
    }
}

impl PoolForm {
    pub fn of(pool: &SharedCostPool) -> Self {
        let month = |month: Option<BillingMonth>| month.map(|month| month.to_string()).unwrap_or_default();
        let mut pairs = vec![
            ("name".to_owned(), pool.name.clone()),
            ("handle".to_owned(), pool.handle.clone()),
            ("last".to_owned(), month(pool.months.last)),
        ];
        let by = match &pool.split {
            Split::Evenly => "evenly",
            Split::DirectCost => "direct-cost",
            Split::AcceleratorHours(hours) => {
                pairs.extend(hours.account.iter().map(|account| ("account".to_owned(), account.clone())));
                word(hours.of)
            }
            Split::WhoUsedIt => "who-used-it",
            Split::Quantity { unit } => {
                pairs.push(("unit".to_owned(), unit.clone()));
                "quantity"
            }
            Split::Fixed { shares } => {
                for share in shares {
                    let percent = share.share.times(100).normalize();
                    pairs.push((format!("share:{}", key(&share.to)), percent.to_string()));
                }
                "fixed"
            }
        };
        pairs.push(("by".to_owned(), by.to_owned()));
        pairs.extend(pool.among.iter().map(|team| (format!("only:team:{team}"), "yes".to_owned())));
        pairs.extend(pool.without.iter().map(|team| (format!("without:team:{team}"), "yes".to_owned())));
        pairs.extend(pool.pools.iter().map(|pool| (format!("only:pool:{pool}"), "yes".to_owned())));
        Self { pairs }
    }

    pub fn value(&self, name: impl AsRef<str>) -> &str {
        self.pairs.iter().find(|(key, _)| key == name.as_ref()).map_or("", |(_, value)| value.trim())
    }

    pub fn has_split(&self, word: &str) -> bool {
        self.value("by") == word
    }

    pub fn share(&self, candidate: &Candidate) -> &str {
        self.value(format!("share:{}", candidate.key))
    }

    pub fn is_ticked(&self, what: &str, candidate: &Candidate) -> bool {
        !self.value(format!("{what}:{}", candidate.key)).is_empty()
    }

    fn handles(&self, prefix: &str) -> Vec<String> {
        let ticked = self.pairs.iter().filter(|(_, value)| !value.trim().is_empty());
        ticked.filter_map(|(name, _)| name.strip_prefix(prefix).map(str::to_owned)).collect()
    }

    /// The pool, and from which month on.
    pub fn read(&self) -> Result<(SharedCostPool, Option<BillingMonth>), Vec<Problem>> {
        let mut problems = Vec::new();
        let name = self.value("name").to_owned();
        if name.is_empty() {
            problems.push(problem("Name", "enter a name"));
        }
        let handle = match self.value("handle") {
            "" => handle_of(&name),
            handle => handle.to_owned(),
        };
        let mut month = |name: &str, title: &str| {
            month(title, self.value(name)).unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        };
        let (since, last) = (month("since", "First month"), month("last", "Last month"));
        let split = match self.value("by") {
            "evenly" => Split::Evenly,
            "direct-cost" => Split::DirectCost,
            "who-used-it" => Split::WhoUsedIt,
            "quantity" => Split::Quantity { unit: self.value("unit").to_owned() },
            "fixed" => Split::Fixed { shares: self.shares(&mut problems) },
            other if let Some(of) = HoursOf::ALL.into_iter().find(|of| word(*of) == other) => {
                let account = Some(self.value("account").to_owned()).filter(|account| !account.is_empty());
                Split::AcceleratorHours(Hours { of, account })
            }
            other => {
                problems.push(problem("Divide", &format!("found “{other}”; choose how to divide the costs")));
                Split::Evenly
            }
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let pool = SharedCostPool {
            handle,
            name,
            split,
            among: self.handles("only:team:"),
            without: self.handles("without:team:"),
            pools: self.handles("only:pool:"),
            months: Months { first: None, last },
        };
        Ok((pool, since))
    }

    /// What the shares that were typed sum to, in percent; nothing where there are none, or one is no number.
    pub fn sum(&self) -> String {
        let mut problems = Vec::new();
        let shares = self.shares(&mut problems);
        if shares.is_empty() || !problems.is_empty() {
            return String::new();
        }
        shares.iter().map(|it| it.share.times(100)).sum::<Decimal>().normalize().to_string()
    }

    fn shares(&self, problems: &mut Vec<Problem>) -> Vec<FixedShare> {
        let mut shares = Vec::new();
        for (name, value) in &self.pairs {
            let Some(key) = name.strip_prefix("share:").filter(|_| !value.trim().is_empty()) else {
                continue;
            };
            let text = value.trim().trim_end_matches('%').trim();
            let to = match key.split_once(':') {
                Some(("pool", pool)) => Recipient::Pool(pool.to_owned()),
                Some((_, team)) => Recipient::Team(team.to_owned()),
                None => continue,
            };
            if let Ok(percent) = text.parse::<Decimal>() {
                shares.push(FixedShare { to, share: percent.multiply(Decimal::new(1, 2)).normalize() });
            } else {
                let message = format!("found “{value}”; enter a percentage such as 12.5");
                problems.push(problem(&format!("Share of {key}"), &message));
            }
        }
        shares
    }
}

fn key(recipient: &Recipient) -> String {
    match recipient {
        Recipient::Team(team) => format!("team:{team}"),
        Recipient::Pool(pool) => format!("pool:{pool}"),
    }
}
