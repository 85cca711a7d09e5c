import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '@chainstead/core';
import type { AptosLedger } from 'chainstead/src/demo/aptos/aptos-ledger.ts';
import { type ListeningServer, listenOnLoopback } from 'chainstead/src/demo/network/loopback-server.ts';
import { type AptosFaultSettings, type AptosFaults, createAptosFaults } from './aptos-faults.ts';

/** A fullnode's REST API on 127.0.0.1. */
export interface AptosFullnode extends ListeningServer {
  readonly faults: AptosFaults;
  /** Calls by route: ledger, transactions, blocks. */
  readonly calls: Readonly<Record<string, number>>;
  /** `authorization` of the last call. */
  readonly authorization: string | null;
}

/** Source of a fullnode: whole pages, for tests with a faster source than one transaction after the other. */
type ServedLedger = Pick<AptosLedger, 'chainId' | 'head' | 'transaction' | 'blockOf'>;

export interface AptosFullnodeOptions {
  readonly faults?: Partial<AptosFaultSettings>;
  readonly seed?: number;
  /** 0 or absent: any free port. */
  readonly port?: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

interface Context {
  readonly ledger: ServedLedger;
  readonly faults: AptosFaults;
  readonly budget: { second: number; used: number };
}

const COMMA = Buffer.from(',');
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/** Serves a ledger, with faults. */
export async function startAptosFullnode(
  ledger: ServedLedger,
  options: AptosFullnodeOptions = {},
): Promise<AptosFullnode> {
  const faults = createAptosFaults(options.seed ?? 1, options.faults);
  const context: Context = { ledger, faults, budget: { second: 0, used: 0 } };
  const calls: Record<string, number> = {};
  let authorization: string | null = null;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fullnode');
    authorization = request.headers.authorization ?? null;
    const route = routeOf(url.pathname);
    calls[route] = (calls[route] ?? 0) + 1;
    serve(context, url, response).catch((error: unknown) => response.destroy(new Error(errorText(error))));
  });
  const listening = await listenOnLoopback(server, options.port ?? 0);
  return {
    ...listening,
    faults,
    calls,
    get authorization() {
      return authorization;
    },
  };
}

function routeOf(path: string): string {
  if (path.startsWith('/v1/transactions')) return 'transactions';
  return path.startsWith('/v1/blocks') ? 'blocks' : 'ledger';
}

async function serve(context: Context, url: URL, response: ServerResponse): Promise<void> {
  const { settings } = context.faults;
  if (settings.latencyMs > 0) await sleep(settings.latencyMs);
  if (context.faults.roll('dropRate')) {
    response.destroy();
    return;
  }
  const answer = refusal(context) ?? answerOf(context, url);
  const body = cut(context, answer);
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': String(body.reduce((sum, piece) => sum + piece.length, 0)),
    ...ledgerHeaders(context),
    ...answer.headers,
  });
  response.cork();
  for (const piece of body) response.write(piece);
  response.end();
  response.uncork();
}

/** Half of the bytes, announced as all of them: what a proxy passes on whose own upstream broke off. */
function cut(context: Context, { status, pieces }: Answer): readonly Uint8Array[] {
  if (status !== 200 || !context.faults.roll('truncateRate')) return pieces;
  const whole = Buffer.concat(pieces);
  return [whole.subarray(0, whole.length >> 1)];
}

function refusal(context: Context): Answer | null {
  const { faults, budget } = context;
  const { retryAfterSeconds, budget: limit } = faults.settings;
  if (faults.roll('throttleRate'))
    return {
      ...errorAnswer(429, 'rate_limited', 'Too many requests'),
      headers: { 'retry-after': String(retryAfterSeconds) },
    };
  if (faults.roll('serverErrorRate')) return errorAnswer(503, 'internal_error', 'The node is overloaded');
  if (limit === null) return null;
  const window = Math.floor(Date.now() / 1_000 / limit.seconds);
  if (window !== budget.second) Object.assign(budget, { second: window, used: 0 });
  budget.used++;
  return budget.used > limit.calls ? { ...errorAnswer(429, 'rate_limited', 'Budget used up') } : null;
}

function ledgerHeaders({ ledger, faults, budget }: Context): Record<string, string> {
  const { chainId, lag, oldest, budget: limit } = faults.settings;
  const reported = {
    'x-aptos-chain-id': String(chainId ?? ledger.chainId),
    'x-aptos-ledger-version': String(ledger.head - lag),
    'x-aptos-ledger-oldest-version': String(oldest),
  };
  if (limit === null) return reported;
  const resetsAt = (Math.floor(Date.now() / 1_000 / limit.seconds) + 1) * limit.seconds;
  return {
    ...reported,
    'x-ratelimit-limit': String(limit.calls),
    'x-ratelimit-remaining': String(Math.max(0, limit.calls - budget.used)),
    'x-ratelimit-reset': String(resetsAt),
  };
}

function answerOf(context: Context, url: URL): Answer {
  const { ledger, faults } = context;
  const { chainId, lag, oldest } = faults.settings;
  const head = ledger.head - lag;
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '/v1')
    return jsonAnswer({
      chain_id: chainId ?? ledger.chainId,
      epoch: '1',
      ledger_version: String(head),
      oldest_ledger_version: String(oldest),
      ledger_timestamp: '1665609980299882',
      node_role: 'full_node',
      oldest_block_height: '0',
      block_height: String(ledger.blockOf(head).height),
      git_hash: '',
    });
  const block = /^\/v1\/blocks\/by_version\/(\d+)$/.exec(path);
  if (block !== null) return blockAnswer(context, Number(block[1]), head);
  if (path !== '/v1/transactions') return errorAnswer(404, 'web_framework_error', 'not found');
  return pageAnswer(context, url.searchParams, head);
}

function blockAnswer({ ledger, faults }: Context, version: number, head: number): Answer {
  if (version > head) return errorAnswer(404, 'version_not_found', `Ledger version(${version}) not found`);
  if (version < faults.settings.oldest) return prunedAnswer(version);
  const { height, first, last } = ledger.blockOf(version);
  return jsonAnswer({
    block_height: String(height),
    block_hash: '0x00',
    block_timestamp: '1665609980299882',
    first_version: String(first),
    last_version: String(last),
    transactions: null,
  });
}

function pageAnswer(context: Context, query: URLSearchParams, head: number): Answer {
  const { faults } = context;
  const start = Number(query.get('start') ?? head);
  const limit = Math.min(Number(query.get('limit') ?? 25), faults.settings.pageMax);
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(limit) || limit < 1)
    return errorAnswer(400, 'web_framework_error', 'failed to parse parameter `start`');
  if (start < faults.settings.oldest) return prunedAnswer(start);
  if (faults.roll('emptyRate')) return { status: 200, pieces: [OPEN, CLOSE] };
  const last = Math.min(head, start + limit - 1);
  const versions = Array.from({ length: Math.max(0, last - start + 1) }, (_, index) => start + index);
  if (versions.length > 2 && faults.roll('gapRate')) versions.splice(versions.length >> 1, 1);
  if (versions.length > 1 && faults.roll('duplicateRate')) versions[1] = start;
  if (versions.length > 1 && faults.roll('wrongStartRate')) versions.shift();
  const pieces: Uint8Array[] = [OPEN];
  for (const [index, version] of versions.entries()) {
    if (index > 0) pieces.push(COMMA);
    pieces.push(transactionBytes(context, version));
  }
  pieces.push(CLOSE);
  return { status: 200, pieces };
}

function transactionBytes({ ledger, faults }: Context, version: number): Buffer {
  const bytes = ledger.transaction(version);
  const { forkFrom } = faults.settings;
  if (forkFrom === null || version < forkFrom) return bytes;
  const root = createHash('sha256').update(`fork/${version}`).digest('hex');
  const text = bytes.toString('utf8');
  return Buffer.from(text.replace(/"accumulator_root_hash":"[^"]*"/, `"accumulator_root_hash":"0x${root}"`));
}

function prunedAnswer(version: number): Answer {
  return errorAnswer(410, 'version_pruned', `Ledger version(${version}) has been pruned`);
}

function errorAnswer(status: number, code: string, message: string): Answer {
  return { ...jsonAnswer({ message, error_code: code, vm_error_code: null }), status };
}

function jsonAnswer(body: object): Answer {
  return { status: 200, pieces: [Buffer.from(JSON.stringify(body))] };
}
