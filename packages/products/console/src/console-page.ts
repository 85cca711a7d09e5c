import type { AptosNetwork } from '@chainstead/aptos';
import type { Chain, ChainRegistry } from '@chainstead/chains';
import type { Address, Clock, Hash, Logger } from '@chainstead/core';
import type { Database, DiskPlace, ReadDatabase } from '@chainstead/db';
import type { AuditActor } from '@chainstead/http';
import type { InnerApi, InnerAsker, KeyStore } from '@chainstead/http/server';
import type { SqlReader } from '@chainstead/mcp';
import type { PictureReader } from '@chainstead/nft';
import type { HashPlace } from '@chainstead/node-reads';
import type { StreamOperations } from '@chainstead/streams';
import type { NameService } from '@chainstead/tokens/names';
import type { z } from 'zod';
import type { Html } from './layout/html.ts';
import type { MenuGroup } from './layout/page.ts';
import type { AbiSource } from './pages/contracts/contract-form.ts';
import type { RangeWorkOffer } from './pages/jobs/job-form.ts';
import type { OverviewSource } from './pages/overview/read-overview.ts';
import type { NodeTest } from './pages/upstreams/node-test.ts';
import type { UpstreamsSource } from './pages/upstreams/read-upstreams.ts';
import type { ConsoleSession, SessionStore } from './sessions/session-store.ts';

/** A page is a folder in pages/ and a line in pages/registry.ts. */
export interface ConsolePage {
  readonly path: string;
  readonly title: string;
  /** @default true */
  readonly inMenu?: boolean;
  readonly group?: MenuGroup;
  /** Limit of the largest form below its path. @default 65,536 */
  readonly formBytesMax?: number;
  addRoutes(routes: ConsoleRoutes, services: ConsoleServices): void;
}

/** Below `/console`. Each requires a session, a change also the session's token. */
export interface ConsoleRoutes {
  view(path: string, answer: (request: ConsoleRequest) => Promise<PageAnswer>): void;
  change<Form>(
    path: string,
    form: z.ZodType<Form>,
    answer: (request: ChangeRequest<Form>) => Promise<PageAnswer>,
  ): void;
  live(path: string, read: (request: ConsoleRequest) => Promise<Html>): void;
}

export interface ConsoleRequest {
  readonly session: ConsoleSession;
  readonly token: string;
  readonly parameter: (name: string) => string;
  readonly query: (name: string) => string | undefined;
  /** As the client sees it. From headers, so only for display. */
  readonly origin: string;
  readonly asker: InnerAsker;
}

export interface ChangeRequest<Form> extends ConsoleRequest {
  readonly form: Form;
  readonly by: AuditActor;
}

export type PageAnswer = View | PartedView | { readonly goTo: string } | FileAnswer;

export interface FileAnswer {
  readonly content: string | Uint8Array;
  readonly type: string;
  readonly saveAs?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonFile(value: unknown): FileAnswer {
  return { content: JSON.stringify(value), type: 'application/json' };
}

export interface View extends Heading {
  /** Below the heading. */
  readonly body: Html;
  /** @default 200 */
  readonly status?: 200 | 400 | 404 | 501 | 503;
}

export interface PartedView extends Heading {
  readonly parts: AsyncIterable<Html>;
}

interface Heading {
  /** @default the title of the page's folder */
  readonly title?: string;
  /** @default the title */
  readonly heading?: Html;
}

export interface ConsoleServices {
  /** The process's connection: live parts outlive their request. */
  readonly database: Database;
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  readonly registry: ChainRegistry;
  /** Its name, or its id if it has none. */
  readonly chainName: (id: number) => string;
  readonly overview: OverviewSource;
  readonly streams: StreamOperations;
  readonly upstreams: UpstreamsSource;
  readonly nodeTest: NodeTest;
  readonly explorer: ExplorerServices;
  /** Null without a role that can only read. */
  readonly sql: SqlReader | null;
  readonly disk: DiskPlace;
  readonly rangeWork: RangeWorkOffer;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface ExplorerServices {
  readonly chains: readonly Chain[];
  readonly networks: readonly AptosNetwork[];
  readonly data: InnerApi;
  /** Whether {@link data} has GraphQL. */
  readonly hasGraphql: boolean;
  readonly reads: ReadDatabase;
  /** Null: no node has the hash; undefined: no node responded in time. */
  placeOf(chain: Chain, hash: Hash): Promise<HashPlace | null | undefined>;
  /** Without addresses that no node returned in time. */
  hasCodeOf(chain: Chain, addresses: readonly Address[]): Promise<ReadonlyMap<Address, boolean>>;
  readonly pictures: PictureReader;
  readonly abiSource: AbiSource | null;
  readonly nameServices: readonly NameService[];
}
