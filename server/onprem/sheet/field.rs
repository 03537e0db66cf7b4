//! The fields of each kind: how they are called, in what unit, where a default comes from.

/// A field of a form, and a column of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The column.
    pub name: &'static str,
    pub label: &'static str,
    /// What a number counts; empty where there is nothing to count.
    pub unit: &'static str,
    /// What to write, and for a default where it comes from.
    pub hint: &'static str,
    /// What a new form begins with.
    pub default: &'static str,
    pub is_required: bool,
    pub takes: Takes,
}

/// What may stand in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Text,
    Number,
    Day,
    Month,
    /// Words with what they mean.
    OneOf(&'static [(&'static str, &'static str)]),
    /// A cluster's handle.
    Cluster,
    /// An asset's name.
    Asset,
    /// `key=value; key=value`.
    Tags,
    Currency,
}

const fn field(name: &'static str, label: &'static str, takes: Takes) -> Field {
    Field { name, label, unit: "", hint: "", default: "", is_required: true, takes }
}

impl Field {
    const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }
}

const THE_CLUSTER: Field = field("cluster", "Cluster", Takes::Cluster);
const CURRENCY: Field = field("currency", "Currency", Takes::Currency).default("USD");
const FIRST: Field = field("first", "First month", Takes::Month).hint("Such as 2026-09.");
/// Of what may be paid for several months at once.
const LAST_PAID: Field = field("last", "Last month", Takes::Month).optional().hint(
    "Leave empty for no end. A quarterly or yearly payment that this cuts off is billed for the months until then only. \
     Enter a refund as a negative one-time cost.",
);
const LAST: Field = field("last", "Last month", Takes::Month).optional().hint("Leave empty for no end.");

const DOWNTIME: Field = field("downtime", "Downtime", Takes::Number)
    .unit("% of the time")
    .default("5")
    .hint("For repair and upgrades; 5 to 10 is usual.");
const UTILIZATION_SHARE: Field = field("utilization", "Productive share", Takes::Number)
    .unit("% of available hours")
    .default("80")
    .hint("Shared clusters reach 70 to 85.");

const REPEATED: Field = field("repeated", "Repeated work", Takes::Number)
    .unit("% of productive hours")
    .optional()
    .hint("Restarts and work that is done again. Leave empty if unknown.");

const SITE: Field = field("site", "Site", Takes::Text).hint("The region of its charges.");
const COST_OF_CAPITAL: Field = field("cost_of_capital", "Cost of capital", Takes::Number)
    .unit("% a year")
    .default("10")
    .hint("For comparisons only; not charged.");
const LIFE: Field = field("life_months", "Life", Takes::Number)
    .unit("months")
    .default("36")
    .hint("36 is usual; annual reports show 60 and 72.");

pub(super) const CLUSTER: &[Field] = &[
    field("handle", "Handle", Takes::Text).hint(
        "Used in addresses and rules, and as billing account of its charges. It cannot be changed later.",
    ),
    field("name", "Name", Takes::Text),
    SITE,
    field("since", "Since", Takes::Day).hint("Hardware and energy cost nothing before this day; monthly payments cover the whole month."),
    DOWNTIME.hint(
        "5 to 10 is usual. To change it from a later month, add an entry under “Utilization and downtime”.",
    ),
    UTILIZATION_SHARE.hint(
        "Shared clusters reach 70 to 85. To change it from a later month, add an entry under “Utilization and downtime”.",
    ),
    REPEATED,
    field("rack_kw", "Rack limit", Takes::Number)
        .unit("kW")
        .default("40")
        .hint("Power and cooling of one rack: air up to 50, liquid above."),
    COST_OF_CAPITAL,
    field("growth", "Growth of demand", Takes::Number)
        .unit("% a month")
        .default("0")
        .hint("To compute when the cluster is full and what to order."),
    field("lead_months", "Lead time", Takes::Number)
        .unit("months")
        .default("12")
        .hint("From order to service; 3 to 18 is usual."),
];

const ASSET_KINDS: Takes = Takes::OneOf(&[
    ("node", "Node with accelerators"),
    ("spare-node", "Spare node: costs, adds no hours"),
    ("fabric", "Fabric: switches, cables"),
    ("storage", "Storage"),
    ("installation", "Installation"),
    ("facility", "Facility: building, power, cooling"),
]);

pub(super) const ASSET: &[Field] = &[
    THE_CLUSTER,
    field("name", "Name", Takes::Text)
        .hint("A name that no other asset has. Units are numbered: node-01, node-02."),
    field("what", "What it is", ASSET_KINDS).default("node"),
    field("model", "Model", Takes::Text).optional().hint("For nodes, such as DGX H100."),
    field("accelerator", "Accelerator", Takes::Text).optional().hint("For nodes, such as H100 SXM."),
    field("accelerators", "Accelerators in one unit", Takes::Number).optional(),
    field("count", "Units", Takes::Number).default("1"),
    field("price", "Price of one unit", Takes::Number)
        .unit("in its currency")
        .hint("Purchase price; 0 is allowed for a lease."),
    CURRENCY,
    field("in_service", "In service from", Takes::Day).hint("Depreciation begins on this day."),
    LIFE,
    field("residual", "Residual value of one unit", Takes::Number)
        .unit("in its currency")
        .default("0")
        .hint("Value at the end of its life; not depreciated."),
    field(
        "depreciation",
        "Depreciation",
        Takes::OneOf(&[("straight-line", "Straight line"), ("declining-balance", "Declining balance")]),
    )
    .default("straight-line"),
    field("factor", "Factor of declining balance", Takes::Number).optional().hint("2 is double declining."),
    field(
        "paid",
        "Paid",
        Takes::OneOf(&[("bought", "At once"), ("financed", "In installments"), ("leased", "As a lease")]),
    )
    .default("bought"),
    field("yearly_rate", "Interest of installments", Takes::Number).unit("% a year").optional(),
    field("term_months", "Term of installments or lease", Takes::Number).unit("months").optional(),
    field("monthly", "Lease of one unit", Takes::Number).unit("a month").optional(),
    field("idle_kw", "Idle power", Takes::Number).unit("kW a unit").optional(),
    field("load_kw", "Load power", Takes::Number).unit("kW a unit").optional(),
    field("rated_kw", "Rated power", Takes::Number)
        .unit("kW a unit")
        .optional()
        .hint("What the rack must supply."),
    field("tags", "Tags", Takes::Tags)
        .optional()
        .hint("Such as team=vision; env=prod. Rules and labels use them."),
];

pub(super) const EVENT: &[Field] = &[
    field("asset", "Asset", Takes::Asset),
    field("units", "Which units", Takes::Text)
        .optional()
        .hint("Such as 3 or 1-4, 7. Leave empty for all units."),
    field("day", "Day", Takes::Day),
    field(
        "what",
        "What happened",
        Takes::OneOf(&[
            ("disposal", "Sold or given away"),
            ("write-off", "Written off"),
            ("move", "Moved to another cluster"),
        ]),
    )
    .default("disposal"),
    field("proceeds", "Proceeds of one unit", Takes::Number).unit("in its currency").optional(),
    field("to", "To cluster", Takes::Cluster).optional(),
];

pub(super) const UTILIZATION: &[Field] = &[
    THE_CLUSTER,
    field("first", "From month", Takes::Month).hint("Applies until the next entry."),
    DOWNTIME,
    UTILIZATION_SHARE,
    REPEATED,
];

pub(super) const METER: &[Field] = &[
    THE_CLUSTER,
    field("name", "Name", Takes::Text).hint("As in the files of readings."),
    field(
        "place",
        "What it measures",
        Takes::OneOf(&[
            ("it", "The machines: cooling is added by PUE"),
            ("facility", "The site: cooling is included"),
        ]),
    )
    .default("it"),
];

pub(super) const PUE: &[Field] = &[
    THE_CLUSTER,
    field("first", "From month", Takes::Month).hint("Applies until the next entry."),
    field("value", "PUE", Takes::Number)
        .default("1.3")
        .hint("Site energy divided by machine energy. 1.3 is usual; a survey’s mean is 1.58 (Uptime, 2023)."),
];

pub(super) const TARIFF: &[Field] = &[
    THE_CLUSTER,
    field("name", "Name", Takes::Text),
    FIRST,
    LAST,
    CURRENCY,
    field("price_per_kwh", "Price", Takes::Number)
        .unit("per kWh, outside the bands below")
        .default("0.10")
        .hint("0.08 to 0.15 is usual; US industry paid 0.0826 in 2025."),
    field("bands", "By time of day", Takes::Text)
        .optional()
        .hint("Such as workdays 8-20 0.18; weekend 0-24 0.07; or every-day 22-6 0.06. Bands may run past midnight, but not overlap."),
    field("demand_per_kw", "Demand charge", Takes::Number)
        .unit("per kW of the month’s peak")
        .default("0")
        .hint("See your utility bill."),
    field(
        "demand_window",
        "Demand is averaged over",
        Takes::OneOf(&[("15", "15 minutes"), ("30", "30 minutes"), ("60", "an hour")]),
    )
    .default("15"),
    field("time_zone", "Time zone", Takes::Text).default("UTC").hint("Such as Europe/Berlin or America/New_York."),
];

pub(super) const COLOCATION: &[Field] = &[
    THE_CLUSTER,
    field("name", "Name", Takes::Text),
    FIRST,
    LAST,
    field("contracted_kw", "Contracted power", Takes::Number).unit("kW"),
    field("price_per_kw", "Price", Takes::Number)
        .unit("per contracted kW and month")
        .hint("See your contract; 100 to 400 USD is usual."),
    CURRENCY,
    field(
        "includes_energy",
        "Is energy in this price?",
        Takes::OneOf(&[
            ("yes", "Yes: no other energy is charged"),
            ("no", "No: energy is charged by tariff and meters"),
        ]),
    )
    .hint("Check your contract: otherwise power is counted twice or not at all."),
];

pub(super) const STAFF: &[Field] = &[
    THE_CLUSTER,
    field("role", "Role", Takes::Text).hint("The shares of a role in several clusters total at most 100%."),
    FIRST,
    LAST,
    field("fte", "Full-time equivalents", Takes::Number)
        .default("1.5")
        .hint("Usual: 1.5 up to 64 GPUs, 2.5 up to 128, 3.5 up to 256."),
    field("loaded_cost", "Cost per person", Takes::Number)
        .unit("a year, fully loaded")
        .default("250000")
        .hint("Usual in the US; 45,000 elsewhere."),
    CURRENCY,
    field("share", "Share of this cluster", Takes::Number).unit("%").default("100"),
];

pub(super) const STAFF_HOURS: &[Field] = &[
    THE_CLUSTER,
    field("role", "Role", Takes::Text),
    field("month", "Month", Takes::Month),
    field("hours", "Hours", Takes::Number).unit("h"),
    field("hourly_cost", "Cost of an hour", Takes::Number).unit("fully loaded"),
    CURRENCY,
];

pub(super) const COST: &[Field] = &[
    THE_CLUSTER,
    field("name", "Name", Takes::Text),
    field(
        "what",
        "What it is",
        Takes::OneOf(&[
            ("maintenance", "Maintenance and support"),
            ("licence", "Licenses"),
            ("space", "Space"),
            ("link", "Links"),
            ("insurance", "Insurance"),
            ("spares", "Spare parts"),
            ("other", "Other"),
        ]),
    )
    .default("maintenance"),
    field("amount", "Amount of one payment", Takes::Number)
        .unit("in its currency")
        .hint("Negative for a rebate or credit."),
    CURRENCY,
    field(
        "every",
        "Paid",
        Takes::OneOf(&[
            ("once", "Once"),
            ("month", "Every month"),
            ("quarter", "Every quarter"),
            ("year", "Every year"),
        ]),
    )
    .default("year"),
    FIRST,
    LAST_PAID,
];

/// What is asked of a new cluster.
pub(in super::super) const START: &[Field] = &[
    field("name", "Name", Takes::Text).hint("Such as H100 East; used in addresses and bills."),
    SITE,
    field("since", "In service from", Takes::Day),
    field("system", "System", Takes::Text),
    field("nodes", "Nodes in service", Takes::Number).default("8").hint("Eight accelerators each."),
    field("spares", "Spare nodes", Takes::Number)
        .default("1")
        .hint("Spare nodes cost, but add no hours; 5 to 10% of nodes is usual."),
    CURRENCY,
    field("node_price", "Price of a node", Takes::Number),
    field("network_price", "Fabric, for each node", Takes::Number)
        .hint("50,000 is usual for InfiniBand; 0 if included in the node price."),
    LIFE,
    field("residual", "Residual value", Takes::Number)
        .unit("% of the price")
        .default("0")
        .hint("0 is cautious; one guide says 30% after three years."),
    field("pue", "PUE", Takes::Number)
        .default("1.3")
        .hint("Site energy divided by machine energy; a survey’s mean is 1.58 (Uptime, 2023)."),
    field("price_per_kwh", "Energy", Takes::Number)
        .unit("per kWh")
        .default("0.10")
        .hint("0.08 to 0.15 is usual; US industry paid 0.0826 in 2025. You can add times of day and demand charges later."),
    field(
        "housing",
        "Where it is",
        Takes::OneOf(&[
            ("own", "Own building: energy at the price above"),
            ("colocation", "Colocation, energy not included"),
            ("colocation-with-energy", "Colocation, energy included"),
        ]),
    )
    .default("own")
    .hint("Check your contract: otherwise power is counted twice or not at all."),
    field("colocation_price", "Colocation", Takes::Number)
        .unit("per contracted kW and month")
        .default("200")
        .hint("100 to 400 USD is usual. For colocation only, by the rated power of all nodes."),
    field("fte", "People", Takes::Number)
        .unit("full-time equivalents")
        .default("1.5")
        .hint("Usual: 1.5 up to 64 GPUs, 2.5 up to 128, 3.5 up to 256."),
    field("loaded_cost", "Cost per person", Takes::Number)
        .unit("a year, fully loaded")
        .default("250000")
        .hint("Usual in the US."),
    field("maintenance", "Maintenance and support", Takes::Number)
        .unit("% of the price a year")
        .default("5")
        .hint("3 to 12 is usual."),
    DOWNTIME,
    UTILIZATION_SHARE,
    COST_OF_CAPITAL,
];
