//! What a line of the table of routes is made of: an address, its handler, and who may use it.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::MethodRouter;
use axum_extra::routing::{SecondElementIs, TypedPath};

use super::{App, guard};
use crate::accounts::Role;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone; nobody even looks who it is. For files and the health of the server.
    Static,
    /// Anyone; the page knows who it is where they are signed in.
    Public,
    /// Everyone with an account.
    SignedIn,
    /// Finance and administrators.
    Finance,
    Admin,
}

impl Access {
    /// Whether someone of this role may pass; `None` is someone who is not signed in.
    pub fn admits(self, role: Option<Role>) -> bool {
        match self {
            Self::Static | Self::Public => true,
            Self::SignedIn => role.is_some(),
            Self::Finance => matches!(role, Some(Role::Finance | Role::Admin)),
            Self::Admin => role == Some(Role::Admin),
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    /// Whether scripts may read it with a token: it shows figures, or is a file of them.
    pub is_for_scripts: bool,
    /// Whether the page is also a file: its address with `.json` or another suffix answers the same figures.
    pub has_files: bool,
    /// Whether the page is kept once it is rendered: its reader's role and teams, its address, the day and what people have
    /// written decide all of it but their name. What is under way, or said to one person, is none of that.
    pub is_kept: bool,
}

/// A handler of the path `P`: the type of its first argument.
pub trait HandlerAt<P, T>: Handler<T, App> {}

impl<P: TypedPath, T: SecondElementIs<P>, H: Handler<T, App>> HandlerAt<P, T> for H {}

/// Routes under construction: a route cannot be added without saying for whom it is.
#[derive(Default)]
#[must_use]
pub struct Routes {
    router: Router<App>,
    stated: Vec<Stated>,
}

impl Routes {
    pub fn get<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.add::<P>(Method::GET, access, axum::routing::get(handler))
    }

    /// A page with its files, for people alone.
    pub fn with_files<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.get(access, handler).stating(|line| line.has_files = true)
    }

    /// A file, or figures in one form alone: scripts read it with a token, too, as their owner would.
    pub fn file<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.get(access, handler).stating(|line| line.is_for_scripts = true)
    }

    /// A page that shows figures, with its files, for people and scripts.
    pub fn figures<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.file(access, handler).stating(|line| line.has_files = true)
    }

    /// A page that shows figures and is kept, with its files.
    pub fn kept<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.figures(access, handler).stating(|line| line.is_kept = true)
    }

    pub fn post<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.add::<P>(Method::POST, access, axum::routing::post(handler))
    }

    /// A route that takes a piece of a file, which its handler streams.
    pub fn patch<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.add::<P>(Method::PATCH, access, axum::routing::patch(handler))
    }

    pub fn delete<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        self.add::<P>(Method::DELETE, access, axum::routing::delete(handler))
    }

    /// A route that takes files: its body has no limit, and its handler streams it.
    pub fn upload<P: TypedPath, T: 'static>(self, access: Access, handler: impl HandlerAt<P, T>) -> Self {
        let without_limit = axum::routing::post(handler).layer(DefaultBodyLimit::disable());
        self.add::<P>(Method::POST, access, without_limit)
    }

    fn add<P: TypedPath>(mut self, method: Method, access: Access, handler: MethodRouter<App>) -> Self {
        let line =
            Stated { method, path: P::PATH, access, is_for_scripts: false, has_files: false, is_kept: false };
        self.stated.push(line);
        self.router = self.router.route(P::PATH, handler);
        self
    }

    /// Says more of the route that was added last.
    fn stating(mut self, state: impl FnOnce(&mut Stated)) -> Self {
        if let Some(line) = self.stated.last_mut() {
            state(line);
        }
        self
    }

    pub fn stated(&self) -> &[Stated] {
        &self.stated
    }

    /// The router behind its guard, who reads this same table.
    pub fn into_router(self, app: App) -> Router {
        guard::stand_before(self.router, self.stated, app)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_admits_whom_it_names() {
        use Access::{Admin, Finance, Public, SignedIn, Static};
        let roles = [None, Some(Role::Lead), Some(Role::Finance), Some(Role::Admin)];
        for (access, admitted) in [
            (Static, [true, true, true, true]),
            (Public, [true, true, true, true]),
            (SignedIn, [false, true, true, true]),
            (Finance, [false, false, true, true]),
            (Admin, [false, false, false, true]),
        ] {
            assert_eq!(roles.map(|role| access.admits(role)), admitted, "{access:?}");
        }
    }
}
