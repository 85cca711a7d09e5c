import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, defineError } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText, joinSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  type BalanceProof,
  type BalanceProver,
  balanceOfCall,
  createBalanceProver,
  readBalance,
  readShownBalances,
} from '@chainstead/erc20';
import { stateAt, storedNativeBalances } from '@chainstead/node-reads';
import { committedBlock, knownBlock, type StateBlock } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { UsageError } from '../errors/usage-error.ts';
import { withChain } from '../session/chain-session.ts';
import type { Invocation } from '../session/command-context.ts';
import { readAddress } from '../session/option-values.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { renderTable } from '../text/text-table.ts';

interface VerifyBalancesOptions {
  readonly chain: string;
  readonly wallet: string;
  readonly token?: readonly string[];
}

class BalancesContradictedError extends defineError(
  'BALANCES_CONTRADICTED',
  (chain: string, wallet: Address, details: readonly string[]) => ({
    message: `${details.length} balances of ${wallet} on ${chain} differ: ${details.join('; ')}`,
    facts: { chain, wallet, details },
    remedy: 'Remove the upstream with the wrong balance from RPC_URLS',
  }),
) {}

interface Report {
  readonly chain: string;
  readonly wallet: Address;
  readonly block: StateBlock;
  readonly balances: readonly VerifiedBalance[];
  readonly refused: readonly { readonly upstream: string; readonly why: string }[];
  readonly isCut: boolean;
}

export async function verifyBalances({
  options,
  command,
  context,
}: Invocation<VerifyBalancesOptions>): Promise<void> {
  const wallet = readAddress(options.wallet, '--wallet');
  const requested = options.token?.map((text) => readAddress(text, '--token')) ?? null;
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  const session = { configuration, configured, context, name: 'verify-balances' };
  const report = await withChain(session, async ({ chain, database, pool }): Promise<Report> => {
    const block = await committedBlock(database, chain);
    if (block === null)
      throw new UsageError(
        `${chain.key} has no indexed blocks yet`,
        'Run "chainstead start" or "chainstead backfill" first',
      );
    const signal = context.stopSignal;
    const { tokens, isCut } =
      requested === null ? await listHeldTokens(database, chain, wallet) : { tokens: requested, isCut: false };
    const { balanceMaxAgeMs: live, nativeBalanceMaxAgeMs: native } = configuration.onDemand;
    const source = { database, pool, chain, block, maxAgeMs: { live, native } };
    const provers = new Map<string, BalanceProver>();
    const balances: VerifiedBalance[] = [];
    for (const balance of await readBalances(source, wallet, tokens, signal)) {
      signal.throwIfAborted();
      const { block: of } = balance;
      const prover = provers.get(of.hash) ?? createBalanceProver({ database, pool, chain, block: of });
      provers.set(of.hash, prover);
      balances.push(await verifyBalance(prover, wallet, balance, signal));
    }
    const refused = [...provers.values()].flatMap((prover) => prover.refused);
    return { chain: chain.key, wallet, block, balances, refused, isCut };
  });
  context.stdout.write(
    context.stdout.isTTY === true ? renderText(report, requested !== null) : renderJson(report),
  );
  const contradicted = report.balances.filter(({ verdict }) => verdict === 'contradicted');
  if (contradicted.length === 0) return;
  throw new BalancesContradictedError(
    report.chain,
    wallet,
    contradicted.map((balance) => `${nameOf(balance)}: ${balance.detail}`),
  );
}

function renderText({ chain, wallet, block, balances, refused, isCut }: Report, isRequested: boolean): string {
  const reported = balances.filter(
    ({ token, reported: says, verdict }) =>
      isRequested || token === null || says !== 0n || verdict === 'contradicted',
  );
  const rows = reported.map((balance) => [
    nameOf(balance),
    amountOf(balance, balance.shown),
    amountOf(balance, balance.reported),
    amountOf(balance, balance.proven),
    balance.proof === null ? balance.verdict : `${balance.verdict} (${balance.proof})`,
    balance.reason ?? '',
  ]);
  const notes = reported.flatMap((balance) =>
    balance.detail === null ? [] : [`${nameOf(balance)}: ${balance.detail}`],
  );
  const refusals = refused.map(({ upstream, why }) => `Rejected ${upstream}: ${why}`);
  const cut = isCut
    ? [`The wallet moved more than ${balances.length - 1} tokens. Check other tokens with --token.`]
    : [];
  const lines = [...notes, ...refusals, ...cut].map((line) => `${line}\n`).join('');
  const table = renderTable(['token', 'API', 'balanceOf', 'proven value', 'verdict', 'reason'], rows);
  return `${wallet} on ${chain} at block ${block.number} (${block.hash}):\n${table}${lines}`;
}

function nameOf({ token, symbol }: ShownBalance): string {
  if (token === null) return symbol ?? 'native';
  return symbol === null ? token : `${symbol} (${token})`;
}

function amountOf({ decimals }: ShownBalance, baseUnits: bigint | null): string {
  return baseUnits === null ? '-' : decimalAmount(baseUnits.toString(), decimals ?? 0);
}

function renderJson({ chain, wallet, block, balances, refused, isCut }: Report): string {
  const shown = balances.map((balance) => ({
    token: balance.token,
    symbol: balance.symbol,
    block: balance.block.number,
    shown: balance.shown?.toString() ?? null,
    reported: balance.reported?.toString() ?? null,
    told_by: balance.reportedBy,
    proven: balance.proven?.toString() ?? null,
    verdict: balance.verdict,
    proof: balance.proof,
    reason: balance.reason,
    detail: balance.detail,
  }));
  const facts = { work: 'verify-balances', chain, wallet, block: block.number, block_hash: block.hash };
  return `${JSON.stringify({ ...facts, balances: shown, refused, complete: !isCut, finished: true })}\n`;
}

/** Contradicted and unproven: the API and `balanceOf` differ. */
type VerifiedBalance = ShownBalance & BalanceProof;

async function verifyBalance(
  prover: BalanceProver,
  wallet: Address,
  balance: ShownBalance,
  signal: AbortSignal,
): Promise<VerifiedBalance> {
  const { token, shown, reported, reportedBy, block } = balance;
  const proof = await prover.proveBalance({ wallet, token, shown: reported, reportedBy }, signal);
  const isShownRight = shown === null || shown === (proof.proven ?? reported);
  if (isShownRight) return { ...balance, ...proof };
  const state = proof.proven === null ? '' : `, the state of block ${block.number} has ${proof.proven}`;
  const detail = `the API shows ${shown}, ${reportedBy ?? 'balanceOf'} returns ${reported ?? 'nothing'}${state}`;
  return { ...balance, ...proof, verdict: 'contradicted', detail };
}

export interface ShownBalance {
  /** Null: the native token. */
  readonly token: Address | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly block: StateBlock;
  /** By the API, in base units; null: it needs a contract call first. */
  readonly shown: bigint | null;
  /** `balanceOf`, or the native balance, from an upstream; null: none returned. Base units. */
  readonly reported: bigint | null;
  readonly reportedBy: string | null;
}

const TOKENS_MAX = 100;
/** Unbatched, so that the upstream of each response is known. */
const TOGETHER = 8;

export async function listHeldTokens(
  database: Database,
  chain: Pick<Chain, 'id'>,
  wallet: Address,
): Promise<{ readonly tokens: readonly Address[]; readonly isCut: boolean }> {
  const isOfWallet = sql`account_key = ${addressKey(wallet)} AND chain_id = ${chain.id} AND ${expectedTrue(sql`account = ${addressBytes(wallet)}`)}`;
  const moved = MOVED_TABLES.map((table) => sql`SELECT token, block_number FROM ${table} WHERE ${isOfWallet}`);
  const rows = await database.query<{ token: Address }>(
    sql`SELECT ${hexText('token')} AS token FROM (${joinSql(moved, ' UNION ALL ')}) AS moved
     GROUP BY moved.token ORDER BY max(block_number) DESC, moved.token LIMIT ${TOKENS_MAX + 1}`,
  );
  return { tokens: rows.slice(0, TOKENS_MAX).map(({ token }) => token), isCut: rows.length > TOKENS_MAX };
}

const MOVED_TABLES = [sql`erc20_transfer_sides`, sql`wrapped_coin_moves`];

interface BalanceSource {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly block: StateBlock;
  readonly maxAgeMs: { readonly live: number; readonly native: number };
}

/** @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError */
export async function readBalances(
  source: BalanceSource,
  wallet: Address,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<readonly ShownBalance[]> {
  const { database, pool, chain } = source;
  const tokenOf = await readTokenBook(database, chain, tokens);
  const liveMaxAgeMs = source.maxAgeMs.live;
  const shown = await readShownBalances(database, chain, { wallet, tokens, liveMaxAgeMs });
  const balances: ShownBalance[] = [await readCoin(source, wallet, signal)];
  const read = async (token: Address): Promise<ShownBalance> => {
    const api = shown.get(token);
    const block = api?.block ?? source.block;
    const state = stateAt(pool, chain, block);
    const reported = readBalance(await state.call(token, balanceOfCall(wallet), signal));
    const { symbol, decimals } = tokenOf(token);
    return { token, symbol, decimals, block, shown: api?.balance ?? null, reported, reportedBy: state.upstream };
  };
  for (let from = 0; from < tokens.length; from += TOGETHER)
    balances.push(...(await Promise.all(tokens.slice(from, from + TOGETHER).map(read))));
  return balances;
}

async function readCoin(
  { database, pool, chain, block: newest, maxAgeMs }: BalanceSource,
  wallet: Address,
  signal: AbortSignal,
): Promise<ShownBalance> {
  const stored = await storedNativeBalances(database, chain, [wallet], maxAgeMs.native);
  const storedBlock = stored === null ? null : await knownBlock(database, chain, stored.block.number);
  const [wei = null] = storedBlock === null ? [] : (stored?.balances ?? []);
  const block = storedBlock ?? newest;
  const state = stateAt(pool, chain, block);
  const reported = await state.balance(wallet, signal);
  const { symbol, decimals } = chain.native;
  return {
    ...{ token: null, symbol, decimals, block },
    ...{ shown: wei === null ? null : BigInt(wei), reported, reportedBy: state.upstream },
  };
}
