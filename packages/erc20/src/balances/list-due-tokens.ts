import { areTablesSpread, subjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText } from '@chainstead/db';
import { coinCoverage } from '../wrapped/coin-coverage.ts';
import type { BalanceQuestion } from './balance-questions.ts';
import { factsOf, heldTokens, isWhole, toldBalance, type WalletInSql } from './told-balances.ts';

/** Of one question; what is left is asked with the next. */
const TOKENS_MAX = 5_000;
/** Tokens of imported lists that are asked of a wallet whose history is not complete. */
const LISTED_MAX = 500;

/** The tokens whose contracts are to be asked now, newest movement first. */
export async function listDueTokens(
  database: Database,
  chain: Chain,
  { wallet: address, tokens, liveMaxAgeMs }: BalanceQuestion,
): Promise<readonly Address[]> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const wallet: WalletInSql = {
    wallet: bind(addressBytes(address)),
    chainId: bind(chain.id),
    firstBlock: bind(chain.firstBlock),
    wrapped: chain.wrappedNative === null ? null : `${bind(addressBytes(chain.wrappedNative))}::bytea`,
    liveSeconds: bind(liveMaxAgeMs / 1_000),
    freshFrom: `'infinity'`,
    isSpread: await areTablesSpread(database),
  };
  const { chainId } = wallet;
  const sources =
    tokens === null
      ? [heldTokens(wallet, null), heldTokens(wallet, listedTokens(wallet))]
      : [heldTokens(wallet, `unnest(${bind(tokens.map(addressBytes))}::bytea[])`)];
  const subject = { kind: 'wallet', subject: wallet.wallet, chainId, dataset: 'erc20-transfers' } as const;
  const ofCoin = wallet.wrapped === null ? '' : `, ${coinCoverage(subject)}`;
  const rows = await database.query<{ token: Address }>(
    `WITH ${subjectCoverage(subject)}${ofCoin}, held AS (${sources.map((source) => `SELECT * FROM ${source} AS source`).join(' UNION ')})
SELECT ${hexText('held.token')} AS token FROM covered CROSS JOIN held
  CROSS JOIN LATERAL ${factsOf('held.token', wallet)} AS shown CROSS JOIN LATERAL ${toldBalance(wallet)} AS told
WHERE told.due IS NOT NULL AND NOT shown.is_nft
ORDER BY held.moved_block DESC, held.moved_transaction DESC, held.moved_log DESC, held.token LIMIT ${TOKENS_MAX}`,
    values,
  );
  return rows.map(({ token }) => token);
}

function listedTokens({ chainId, firstBlock }: WalletInSql): string {
  return `(SELECT DISTINCT address FROM token_list_entries WHERE chain_id = ${chainId}
    AND NOT (SELECT coalesce(${isWhole(firstBlock)}, false) FROM covered) ORDER BY address LIMIT ${LISTED_MAX})`;
}
