import type { ChainRegistry } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database, DiskPlace } from '@chainstead/db';
import type { AuditActor, InnerAsker, KeyStore } from '@chainstead/http';
import type { StreamOperations } from '@chainstead/streams';
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Html } from './layout/html.ts';
import type { MenuGroup } from './layout/page.ts';
import type { RangeWorkOffer } from './pages/jobs/job-chains.ts';
import type { LookUpServices } from './pages/look-up/look-up-services.ts';
import type { OverviewSource } from './pages/overview/read-overview.ts';
import type { NodeTest } from './pages/upstreams/node-test.ts';
import type { UpstreamsSource } from './pages/upstreams/read-upstreams.ts';
import type { ConsoleSession, SessionStore } from './sessions/session-store.ts';

/** What the console leaves in the context of a request. */
export interface ConsoleEnv {
  Variables: {
    /** Set by the API. */
    requestId: string;
    session: ConsoleSession;
    /** What the browser keeps of it: never for a page. */
    sessionSecret: string;
    /** What its changes carry. */
    token: string;
  };
}

export type ConsoleContext = Context<ConsoleEnv>;

/** A page, with what it can change: a folder in pages/ and a line in pages/registry.ts. */
export interface ConsolePage {
  /** Below `/console`: '' or `/keys`. */
  readonly path: string;
  readonly title: string;
  /** @default true */
  readonly inMenu?: boolean;
  /** What of the menu it stands under; absent: by itself. */
  readonly group?: MenuGroup;
  /** Of the largest form below its path. @default 65,536 bytes */
  readonly formBytesMax?: number;
  addRoutes(routes: ConsoleRoutes, services: ConsoleServices): void;
}

/** How a page adds routes: each stands behind the session, and a change behind its token too. Paths are below `/console`. */
export interface ConsoleRoutes {
  /** Something to look at. */
  view(path: string, answer: (request: PageRequest) => Promise<Answer>): void;
  /** Something that a form changes; its members besides the token are parsed. */
  change<Form>(path: string, form: z.ZodType<Form>, answer: (request: ChangeRequest<Form>) => Promise<Answer>): void;
  /** A part of a page that is sent again when it has changed, as long as somebody looks; `path` is below `/console/events`. */
  live(path: string, read: (request: PageRequest) => Promise<Html>): void;
}

export interface PageRequest {
  readonly session: ConsoleSession;
  /** What forms have to carry (`layout/form.ts`). */
  readonly token: string;
  /** Of the path. */
  readonly parameter: (name: string) => string;
  /** Of the query; the first where there are several. */
  readonly query: (name: string) => string | undefined;
  /** What this server is called by whoever looks, such as `https://chainstead.example`. Said by headers: for texts alone. */
  readonly origin: string;
  /** For whom the data API is asked. */
  readonly asker: InnerAsker;
}

export interface ChangeRequest<Form> extends PageRequest {
  readonly form: Form;
  /** For the audit log. */
  readonly by: AuditActor;
}

/** A page's content, at once or bit by bit, another address to look at, or a file. */
export type Answer = View | PartedView | { readonly goTo: string } | FileAnswer;

export interface FileAnswer {
  readonly content: string | Uint8Array;
  /** Of the content. */
  readonly type: string;
  /** What it is called where it is to be saved; absent: it is for a script. */
  readonly saveAs?: string;
  /** Instead of those that pages have. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface View {
  readonly title: string;
  readonly body: Html;
  /** @default 200 */
  readonly status?: 200 | 400 | 404 | 503;
}

/** A page whose content comes bit by bit, while somebody waits: shown as it comes, also without script. */
export interface PartedView {
  readonly title: string;
  readonly parts: AsyncIterable<Html>;
}

/** What pages work with. */
export interface ConsoleServices {
  readonly database: Database;
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  readonly registry: ChainRegistry;
  readonly overview: OverviewSource;
  readonly streams: StreamOperations;
  readonly upstreams: UpstreamsSource;
  readonly nodeTest: NodeTest;
  readonly lookUp: LookUpServices;
  /** Where the disk under the database can be learnt from. */
  readonly disk: DiskPlace;
  readonly rangeWork: RangeWorkOffer;
  readonly logger: Logger;
  readonly clock: Clock;
}
