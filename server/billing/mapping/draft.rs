//! A mapping as people fill it in: what each column is used for, and what is the same in all rows.

use std::collections::BTreeMap;

use super::document::{
    Amount, CategoryWords, DateForm, Decimals, Field, Fields, File, LastDay, LeaveOut, Length, Mapping,
    Period, PricedBy, Separator, States,
};
use super::uses::Use;

/// What is filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub name: String,
    pub separator: Separator,
    pub header_row: u32,
    /// Of a workbook; the first with a table where none is named.
    pub sheet: Option<String>,
    pub states: States,
    pub names: Vec<String>,
    /// What each column is; columns behind these are not used.
    pub uses: Vec<Option<Use>>,
    /// What prices the rows, where no column is the cost: somebody said that the file states none.
    pub priced_by: Option<PricedBy>,
    /// What is the same in all rows, of provider, account, currency, service and unit.
    pub texts: BTreeMap<Use, String>,
    pub end_is: LastDay,
    pub length: Length,
    pub dates: Option<DateForm>,
    pub spread: bool,
    pub decimal: Decimals,
    pub category_words: BTreeMap<String, String>,
    pub leave_out: Vec<LeaveOut>,
}

/// What is wrong with a draft: the use that it is about, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    pub about: Option<Use>,
    pub sentence: String,
}

impl Draft {
    /// What a mapping says, to be changed.
    pub fn of(mapping: &Mapping) -> Self {
        let Mapping { name, file, period, numbers, fields, tags, category, leave_out } = mapping;
        let mut draft = Self {
            name: name.clone(),
            separator: file.separator,
            header_row: file.header_row,
            sheet: file.sheet.clone(),
            states: file.states,
            names: file.columns.clone(),
            uses: vec![None; file.columns.len()],
            priced_by: fields.priced_by,
            texts: BTreeMap::new(),
            end_is: period.end_is,
            length: period.length,
            dates: period.dates,
            spread: period.spread,
            decimal: numbers.decimal,
            category_words: category.as_ref().map(|it| it.words.clone()).unwrap_or_default(),
            leave_out: leave_out.clone(),
        };
        let optional = [
            (Use::SubAccount, &fields.sub_account),
            (Use::Service, &fields.service),
            (Use::Sku, &fields.sku),
            (Use::Description, &fields.description),
            (Use::Resource, &fields.resource),
            (Use::Region, &fields.region),
            (Use::Accelerator, &fields.accelerator),
            (Use::AcceleratorCount, &fields.accelerator_count),
            (Use::Unit, &fields.unit),
            (Use::Invoice, &fields.invoice),
        ];
        let always = [
            (Use::Provider, &fields.provider),
            (Use::Account, &fields.account),
            (Use::Currency, &fields.currency),
        ];
        let given = optional.into_iter().filter_map(|(of, field)| Some((of, field.as_ref()?)));
        for (of, field) in always.into_iter().chain(given) {
            match field {
                Field::Column(column) => draft.set(column, of),
                Field::Text(text) => {
                    draft.texts.insert(of, text.clone());
                }
            }
        }
        let columns = [
            (Use::Start, Some(&period.start)),
            (Use::End, period.end.as_ref()),
            (Use::Cost, fields.cost.as_ref()),
            (Use::Tax, fields.tax.as_ref()),
            (Use::Quantity, fields.quantity.as_ref()),
            (Use::Category, category.as_ref().map(|it| &it.column)),
        ];
        for (of, column) in columns.into_iter().filter_map(|(of, column)| Some((of, column?))) {
            draft.set(column, of);
        }
        for column in tags.values() {
            draft.set(column, Use::Tag);
        }
        draft
    }

    fn set(&mut self, column: &str, of: Use) {
        if let Some(at) = self.names.iter().position(|name| name == column) {
            self.uses[at] = Some(of);
        }
    }

    /// The column of a use.
    pub fn column(&self, of: Use) -> Option<&str> {
        let at = self.uses.iter().position(|used| *used == Some(of))?;
        self.names.get(at).map(String::as_str)
    }

    fn field(&self, of: Use) -> Option<Field> {
        let column = self.column(of).map(|column| Field::Column(column.to_owned()));
        let text = || self.texts.get(&of).map(|text| text.trim()).filter(|text| !text.is_empty());
        column.or_else(|| text().map(|text| Field::Text(text.to_owned())))
    }

    /// The mapping that was filled in.
    ///
    /// # Errors
    /// All that it lacks.
    pub fn mapping(&self) -> Result<Mapping, Vec<Lack>> {
        let mut lacks = Vec::new();
        let mut lack = |about, sentence: String| lacks.push(Lack { about, sentence });
        for of in Use::ALL.into_iter().filter(|of| *of != Use::Tag) {
            if self.uses.iter().filter(|used| **used == Some(of)).count() > 1 {
                lack(Some(of), format!("Two columns are “{}”. Choose one.", of.label()));
            }
        }
        let start = self.column(Use::Start).map(str::to_owned);
        if start.is_none() {
            lack(Some(Use::Start), "Choose the column of the date or period.".to_owned());
        }
        let cost = self.column(Use::Cost).map(str::to_owned);
        match (&cost, self.priced_by) {
            (Some(_), _) => {}
            (None, None) => {
                let sentence = "Choose the column of the cost, or say that the file states no cost.";
                lack(Some(Use::Cost), sentence.to_owned());
            }
            (None, Some(PricedBy::RateCards)) => {
                if let Some(tax) = self.column(Use::Tax) {
                    let sentence = format!(
                        "{tax} is the tax on a cost, and the file states no cost. Choose another use."
                    );
                    lack(Some(Use::Tax), sentence);
                }
                if self.column(Use::Quantity).is_none() {
                    let sentence = "Choose the column of the hours or other quantity that rate cards price.";
                    lack(Some(Use::Quantity), sentence.to_owned());
                }
                if self.field(Use::Unit).is_none() {
                    let sentence = "Enter the unit of the quantity, such as GPU-Hours, or choose its column.";
                    lack(Some(Use::Unit), sentence.to_owned());
                }
            }
        }
        let needed = [
            (Use::Provider, "Enter the provider, or choose its column."),
            (Use::Account, "Enter the billing account, or choose its column."),
            (Use::Currency, "Enter the currency, such as EUR, or choose its column."),
        ]
        .map(|(of, sentence)| {
            let field = self.field(of);
            if field.is_none() {
                lack(Some(of), sentence.to_owned());
            }
            field
        });
        if let (Some(start), [Some(provider), Some(account), Some(currency)]) = (start, needed)
            && lacks.is_empty()
        {
            let mapping = self.filled(start, cost, [provider, account, currency]);
            return match mapping.check() {
                Ok(()) => Ok(mapping),
                Err(sentence) => Err(vec![Lack { about: None, sentence }]),
            };
        }
        Err(lacks)
    }

    /// The columns that are tags, by keys that tell them apart: two of like names, as `Team` and `Team €`, are two tags.
    fn tags(&self) -> BTreeMap<String, String> {
        let mut tags = BTreeMap::new();
        let columns = self.names.iter().zip(&self.uses).enumerate();
        for (at, (name, _)) in columns.filter(|(_, (_, used))| **used == Some(Use::Tag)) {
            let key = Some(tag_key(name)).filter(|key| !key.is_empty());
            let key = key.unwrap_or_else(|| format!("column-{}", at + 1));
            let numbered = (2..).map(|number| format!("{key}-{number}"));
            let free = std::iter::once(key.clone()).chain(numbered).find(|key| !tags.contains_key(key));
            tags.extend(free.map(|key| (key, name.clone())));
        }
        tags
    }

    fn filled(
        &self,
        start: String,
        cost: Option<String>,
        [provider, account, currency]: [Field; 3],
    ) -> Mapping {
        let column = |of: Use| self.column(of).map(str::to_owned);
        let category = column(Use::Category);
        Mapping {
            name: self.name.trim().to_owned(),
            file: File {
                separator: self.separator,
                header_row: self.header_row,
                sheet: self.sheet.clone(),
                states: self.states,
                columns: self.names.clone(),
            },
            period: Period {
                start,
                end: column(Use::End),
                end_is: self.end_is,
                length: self.length,
                dates: self.dates,
                spread: self.spread,
            },
            numbers: Amount { decimal: self.decimal },
            fields: Fields {
                provider,
                account,
                cost,
                priced_by: self.priced_by,
                tax: column(Use::Tax),
                currency,
                sub_account: self.field(Use::SubAccount),
                service: self.field(Use::Service),
                sku: self.field(Use::Sku),
                description: self.field(Use::Description),
                resource: self.field(Use::Resource),
                region: self.field(Use::Region),
                accelerator: self.field(Use::Accelerator),
                accelerator_count: self.field(Use::AcceleratorCount),
                quantity: column(Use::Quantity),
                unit: self.field(Use::Unit),
                invoice: self.field(Use::Invoice),
            },
            tags: self.tags(),
            category: category.map(|column| CategoryWords { column, words: self.category_words.clone() }),
            leave_out: self.leave_out.clone(),
        }
    }
}

/// The key of the tag that a column becomes: `Cost Center` is `cost-center`.
fn tag_key(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft {
        Draft {
            name: "reseller".to_owned(),
            header_row: 1,
            names: ["Date", "Item", "Net", "Team"].map(str::to_owned).to_vec(),
            uses: vec![Some(Use::Start), Some(Use::Description), Some(Use::Cost), Some(Use::Tag)],
            texts: [(Use::Provider, "Acme"), (Use::Account, "1"), (Use::Currency, "EUR")]
                .map(|(of, text)| (of, text.to_owned()))
                .into(),
            ..Draft::default()
        }
    }

    #[test]
    fn what_is_filled_in_is_a_mapping_and_can_be_filled_in_again() {
        let mapping = draft().mapping().unwrap();
        assert_eq!(mapping.tags["team"], "Team");
        assert_eq!(Draft::of(&mapping), draft());
    }

    #[test]
    fn all_that_is_missing_is_said_at_once() {
        let mut draft = draft();
        draft.uses = vec![None, Some(Use::Tax), Some(Use::Tax), None];
        draft.texts.remove(&Use::Currency);
        let lacks = draft.mapping().unwrap_err();
        let about: Vec<_> = lacks.iter().filter_map(|lack| lack.about).collect();
        assert_eq!(about, [Use::Tax, Use::Start, Use::Cost, Use::Currency]);
    }

    #[test]
    fn file_without_cost_is_usage_only_where_somebody_says_so() {
        let mut draft = draft();
        draft.uses = vec![Some(Use::Start), Some(Use::Accelerator), Some(Use::Quantity), Some(Use::Tag)];
        draft.texts.insert(Use::Unit, "GPU-Hours".to_owned());
        let about = |draft: &Draft| -> Vec<_> {
            draft.mapping().unwrap_err().iter().filter_map(|lack| lack.about).collect()
        };
        assert_eq!(about(&draft), [Use::Cost]);
        draft.priced_by = Some(PricedBy::RateCards);
        let mapping = draft.mapping().unwrap();
        assert_eq!((&mapping.fields.cost, mapping.lacks_cost()), (&None, true));
        assert_eq!(Draft::of(&mapping), draft);
        let mut lacking = draft.clone();
        lacking.uses[2] = Some(Use::Tax);
        lacking.texts.remove(&Use::Unit);
        assert_eq!(about(&lacking), [Use::Tax, Use::Quantity, Use::Unit]);
        draft.uses[3] = Some(Use::Cost);
        let lacks = draft.mapping().unwrap_err();
        assert!(lacks[0].sentence.contains("expected one of them"), "{lacks:?}");
    }

    #[test]
    fn tags_of_columns_with_like_names_stay_apart() {
        let mut draft = draft();
        draft.names = ["Date", "Team", "Net", "Team €"].map(str::to_owned).to_vec();
        draft.uses[1] = Some(Use::Tag);
        let tags = draft.mapping().unwrap().tags;
        let expected = [("team", "Team"), ("team-2", "Team €")];
        assert_eq!(tags, expected.map(|(key, name)| (key.to_owned(), name.to_owned())).into());
    }

    #[test]
    fn names_of_columns_become_keys_of_tags() {
        for (name, key) in
            [("Cost Center", "cost-center"), ("Kostenstelle", "kostenstelle"), (" Team ", "team")]
        {
            assert_eq!(tag_key(name), key);
        }
    }
}
