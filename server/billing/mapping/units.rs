//! Units of time as invoices in other languages write them: hours count accelerators only where they are known to be hours.

/// The unit in English, where it is one of time in another language.
pub(super) fn in_english(unit: &str) -> &str {
    let letters: String = unit.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    UNITS.iter().find(|(name, _)| *name == letters).map_or(unit, |(_, english)| english)
}

/// Letters of a unit in lower case, and what it is in English.
const UNITS: &[(&str, &str)] = &[
    ("std", "Hours"),
    ("stunde", "Hours"),
    ("stunden", "Hours"),
    ("betriebsstunden", "Hours"),
    ("serverstunden", "Hours"),
    ("gpustd", "GPU-Hours"),
    ("gpustunde", "GPU-Hours"),
    ("gpustunden", "GPU-Hours"),
    ("heure", "Hours"),
    ("heures", "Hours"),
    ("gpuheures", "GPU-Hours"),
    ("heuresgpu", "GPU-Hours"),
    ("hora", "Hours"),
    ("horas", "Hours"),
    ("horasgpu", "GPU-Hours"),
    ("ore", "Hours"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_hours_in_every_language() {
        for (unit, expected) in [
            ("Stunden", "Hours"),
            ("Std.", "Hours"),
            ("GPU-Stunden", "GPU-Hours"),
            ("heures", "Hours"),
            ("Hours", "Hours"),
            ("Stück", "Stück"),
            ("Monat", "Monat"),
        ] {
            assert_eq!(in_english(unit), expected);
        }
    }
}
