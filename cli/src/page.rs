//! `forebay page`: a website that shows a running daemon or a coordinator to people with a browser. It is a process of its own that
//! asks as `forebay status` does, so nothing that a browser does can reach the pipeline.

mod access;
mod chart;
mod document;
mod history;
mod pictures;
mod reader;
mod route;
mod starter;
mod view;
mod viewers;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use forebay_daemon::coordinate::Place;
use forebay_daemon::start_logs;
use forebay_daemon::website::{WebsiteDoor, WebsiteError};
use forebay_ledger_client::TokenFile;
use forebay_printable::printable;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::panics;
use crate::remote::CoordinatorArgs;
use access::{Access, PageToken};
use pictures::PagePictures;
use reader::{PageReader, PageSource};
use viewers::Viewers;

#[derive(Debug, clap::Args)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    daemon: Daemon,
    #[command(flatten)]
    coordinator: CoordinatorArgs,
    /// Where the page is served: a loopback address with a port, or unix:PATH, which only this user can open. Left out:
    /// 127.0.0.1:7180, or another port if that one is taken.
    #[arg(long, value_name = "PLACE")]
    listen: Option<Place>,
    /// A file with the token of the page's URL: one line of at least 16 characters. Left out: a new token at each start. It is read
    /// again when it changes.
    #[arg(long, value_name = "FILE")]
    page_token_file: Option<PathBuf>,
    /// Show no pictures: neither of bad records nor of batches.
    #[arg(long)]
    no_pictures: bool,
    /// End when standard input is closed, or when the process that has started this one ends. `loader.page()` gives this.
    #[arg(long, hide = true)]
    ends_with_stdin: bool,
}

/// Where the page is if nothing else is said.
const PORT: u16 = 7180;

pub(crate) fn run(args: &PageArgs) -> Result<(), Failure> {
    let _flush = start_logs("warn").map_err(|error| Failure::Failed(error.to_string()))?;
    panics::end_the_process();
    let coordinator = args.coordinator.coordinator(&args.daemon)?;
    let source = coordinator.map_or_else(|| PageSource::Daemons(args.daemon.clone()), PageSource::Coordinator);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = serve(&runtime, args, source);
    // Do not wait for a daemon that does not answer.
    runtime.shutdown_background();
    served
}

fn serve(runtime: &Runtime, args: &PageArgs, source: PageSource) -> Result<(), Failure> {
    let starter = args.ends_with_stdin.then(starter::gone).transpose()?;
    let door = runtime.block_on(open(args.listen.as_ref())).map_err(|error| Failure::Failed(format!("{error}.")))?;
    let token = match (&args.page_token_file, door.address()) {
        (Some(file), _) => {
            let token = TokenFile::open(file).map_err(|error| Failure::Failed(format!("{error}.")))?;
            Some(PageToken::OfFile(token))
        }
        (None, Some(_)) => Some(PageToken::fresh()?),
        (None, None) => None,
    };
    let mut out = io::stdout().lock();
    match (door.address(), &token) {
        (Some(address), Some(PageToken::Fresh { text, .. })) => {
            writeln!(out, "The page is at http://{address}/{text}/")?;
        }
        (Some(address), _) => writeln!(out, "The page is at http://{address}/TOKEN/ with the token of the file.")?,
        (None, _) => {
            let socket = match &args.listen {
                Some(Place::Socket(path)) => printable(path).to_string(),
                _ => String::new(),
            };
            writeln!(out, "The page is at {socket}. Reach it with \"ssh -L {PORT}:{socket} HOST\".")?;
        }
    }
    out.flush()?;
    drop(out);
    let access = Access::new(token, door.address().map(|address| address.ip()));
    let reader = PageReader::start(source)?;
    let pictures = (!args.no_pictures).then(PagePictures::default);
    let viewers = Arc::new(Viewers::new(access, reader, pictures));
    runtime.block_on(async {
        tokio::select! {
            served = door.serve(viewers) => Ok(served?),
            () = ended(starter) => Ok(()),
        }
    })
}

/// Waits for the end of the process that has started this one, if this one ends with it.
async fn ended(starter: Option<oneshot::Receiver<()>>) {
    match starter {
        // A sender that is gone says the same.
        Some(gone) => gone.await.unwrap_or_default(),
        None => std::future::pending().await,
    }
}

async fn open(listen: Option<&Place>) -> Result<WebsiteDoor, WebsiteError> {
    let at = |port| Place::Network(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    match listen {
        Some(place) => WebsiteDoor::bind(place).await,
        None => match WebsiteDoor::bind(&at(PORT)).await {
            Err(WebsiteError::System { .. }) => WebsiteDoor::bind(&at(0)).await,
            bound => bound,
        },
    }
}
