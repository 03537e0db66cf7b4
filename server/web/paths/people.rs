//! Who signs in, and what they may: accounts, people and the audit trail.

paths! {
    "/sign-in" => SignIn;
    "/sign-out" => SignOut;
    "/setup/{token}" => Setup { token: String };
    /// Where someone with a link chooses a password.
    "/password/{token}" => PasswordLink { token: String };
    "/account" => Account;
    "/account/password" => AccountPassword;
    "/account/appearance" => AccountAppearance;
    "/account/sessions/end-others" => AccountOtherSessions;
    "/account/sessions/{session}/end" => AccountSession { session: i64 };
    "/account/tokens" => AccountTokens;
    "/account/tokens/{token}/revoke" => AccountToken { token: i64 };
    "/access" => WhoMay;
    "/glossary" => Glossary;

    "/people" => People;
    #[derive(Copy)]
    "/people/{person}" => Person { person: i64 };
    "/people/{person}/disable" => PersonDisable { person: i64 };
    "/people/{person}/enable" => PersonEnable { person: i64 };
    "/people/{person}/sign-out" => PersonSignOut { person: i64 };
    "/people/{person}/link" => PersonLink { person: i64 };
    "/people/{person}/tokens/{token}/revoke" => PersonToken { person: i64, token: i64 };
    "/audit" => Audit;
}
