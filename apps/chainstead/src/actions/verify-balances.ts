import { type Address, ChainsteadError, decimalAmount, InvalidPrimitiveError, parseAddress } from '@chainstead/core';
import { type BalanceProver, createBalanceProver } from '@chainstead/erc20';
import { committedBlock, type StateBlock } from '@chainstead/state';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { withChain } from '../command-session.ts';
import { readChainConfiguration } from '../read-configuration.ts';
import { listHeldTokens, readBalances, type ShownBalance } from '../shown-balances.ts';
import { renderTable } from '../text-table.ts';
import { UsageError } from '../usage-error.ts';
import { type VerifiedBalance, verifyBalance } from '../verify-balance.ts';

export interface VerifyBalancesOptions {
  readonly chain: string;
  readonly wallet: string;
  readonly token?: readonly string[];
}

/** The chain's state, or a contract, has other balances than those that are shown or told. */
class BalancesContradictedError extends ChainsteadError {
  constructor(chain: string, wallet: Address, details: readonly string[]) {
    super({
      code: 'BALANCES_CONTRADICTED',
      message: `${details.length} balances of ${wallet} on ${chain} differ: ${details.join('; ')}`,
      facts: { chain, wallet, details },
      remedy: 'Take the upstream that told a wrong one out of RPC_URLS',
      retryable: false,
    });
  }
}

interface Report {
  readonly chain: string;
  readonly wallet: Address;
  readonly block: StateBlock;
  readonly balances: readonly VerifiedBalance[];
  readonly refused: readonly { readonly upstream: string; readonly why: string }[];
  /** Whether the wallet moved more tokens than were looked at. */
  readonly isCut: boolean;
}

/** Proves a wallet's balances. @throws BalancesContradictedError */
export async function verifyBalances(
  options: VerifyBalancesOptions,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const wallet = readAddress('--wallet', options.wallet);
  const asked = options.token?.map((text) => readAddress('--token', text)) ?? null;
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  const session = { configuration, configured, context, name: 'verify-balances' };
  const report = await withChain(session, async ({ chain, database, pool }): Promise<Report> => {
    const block = await committedBlock(database, chain);
    if (block === null)
      throw new UsageError(
        `Nothing of ${chain.key} is indexed yet`,
        'Run "chainstead start" or "chainstead backfill" first',
      );
    const signal = context.stopSignal;
    const { tokens, isCut } =
      asked === null ? await listHeldTokens(database, chain, wallet) : { tokens: asked, isCut: false };
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
  context.stdout.write(context.stdout.isTTY === true ? renderText(report, asked !== null) : renderJson(report));
  const contradicted = report.balances.filter(({ verdict }) => verdict === 'contradicted');
  if (contradicted.length === 0) return;
  throw new BalancesContradictedError(
    report.chain,
    wallet,
    contradicted.map((balance) => `${nameOf(balance)}: ${balance.detail}`),
  );
}

function readAddress(option: string, text: string): Address {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof InvalidPrimitiveError)) throw error;
    throw new UsageError(`${option} ${text} is no address`, 'Give 0x and 40 hexadecimal digits');
  }
}

/** Tokens that a wallet moved and holds nothing of are told only where they were asked for, or are not what they seem. */
function renderText({ chain, wallet, block, balances, refused, isCut }: Report, isAsked: boolean): string {
  const told = balances.filter(
    ({ token, told: says, verdict }) => isAsked || token === null || says !== 0n || verdict === 'contradicted',
  );
  const rows = told.map((balance) => [
    nameOf(balance),
    amountOf(balance, balance.shown),
    amountOf(balance, balance.told),
    amountOf(balance, balance.proven),
    balance.proof === null ? balance.verdict : `${balance.verdict} (${balance.proof})`,
    balance.reason ?? '',
  ]);
  const notes = told.flatMap((balance) => (balance.detail === null ? [] : [`${nameOf(balance)}: ${balance.detail}`]));
  const refusals = refused.map(({ upstream, why }) => `${upstream} was not believed: ${why}`);
  const cut = isCut ? [`The wallet moved more than ${balances.length - 1} tokens: name others with --token.`] : [];
  const lines = [...notes, ...refusals, ...cut].map((line) => `${line}\n`).join('');
  const table = renderTable(['token', 'the API shows', 'balanceOf', 'proven value', 'verdict', 'why not'], rows);
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
    told: balance.told?.toString() ?? null,
    told_by: balance.toldBy,
    proven: balance.proven?.toString() ?? null,
    verdict: balance.verdict,
    proof: balance.proof,
    reason: balance.reason,
    detail: balance.detail,
  }));
  const facts = { work: 'verify-balances', chain, wallet, block: block.number, block_hash: block.hash };
  return `${JSON.stringify({ ...facts, balances: shown, refused, complete: !isCut, finished: true })}\n`;
}
