//! Scenarios: where work should run.

paths! {
    "/scenarios" => Scenarios;
    /// A scenario from a file.
    "/scenarios/file" => ScenariosFile;
    /// One to begin with.
    "/scenarios/templates/{template}" => ScenarioTemplate { template: String };
    /// Figures that people may have read, and what is right.
    "/scenarios/claims" => Claims;
    /// One formula at a time.
    "/scenarios/calculators" => Calculators;
    "/scenarios/calculators/{calculator}" => Calculator { calculator: String };
    /// One of what the ledger says was used and paid.
    "/scenarios/new" => ScenarioNew;
    "/scenarios/{scenario}" => Scenario { scenario: i64 };
    /// Its versions, and two of them side by side.
    "/scenarios/{scenario}/versions" => ScenarioVersions { scenario: i64 };
    "/scenarios/{scenario}/share" => ScenarioShare { scenario: i64 };
    "/scenarios/{scenario}/unshare" => ScenarioUnshare { scenario: i64 };
    "/scenarios/{scenario}/remove" => ScenarioRemove { scenario: i64 };
    "/scenarios/{scenario}/bring-back" => ScenarioBringBack { scenario: i64 };
}
