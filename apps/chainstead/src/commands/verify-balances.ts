import { type Address, decimalAmount, defineError } from '@chainstead/core';
import { type BalanceProof, type BalanceProver, createBalanceProver } from '@chainstead/erc20';
import { committedBlock, type StateBlock } from '@chainstead/node-reads/requests';
import { UsageError } from '../errors/usage-error.ts';
import { withChain } from '../session/chain-session.ts';
import type { Invocation } from '../session/command-context.ts';
import { readAddress } from '../session/option-values.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { renderTable } from '../text/text-table.ts';
import { listHeldTokens, readBalances, type ShownBalance } from './shown-balances.ts';

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
