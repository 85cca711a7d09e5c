import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { getLabels, labelBookOf, readLabels, readSubjectState } from '@chainstead/pages';
import { createOwnerResolver } from './resolve-owner.ts';
import {
  OWNERS,
  type OwnersState,
  readReadings,
  type TokenOwnersQuery,
  tokenOwnersStatement,
} from './token-owners-statement.ts';

export type OwnersPage = Awaited<ReturnType<typeof getOwnersPage>>;

export interface OwnersCache {
  readonly unreported: Set<string>;
}

const UNREPORTED_MAX = 10_000;

export async function getOwnersPage(
  database: Database,
  { unreported }: OwnersCache,
  chain: Chain,
  query: TokenOwnersQuery,
) {
  const labels = labelBookOf(database);
  const areKept = labels.isKept(database);
  const read = (hasReadings: boolean) =>
    readPackedPage<RowOf<typeof OWNERS>, PackedTexts & { state: OwnersState }>(database, OWNERS, (select) =>
      tokenOwnersStatement(chain, query, { select, hasLabels: !areKept, hasReadings }),
    );
  const name = `${chain.id} ${query.token}`;
  const hasReadings = unreported.has(name);
  let { rows, page } = await read(hasReadings);
  const addsUp = page.state[1] === 'sum';
  if (addsUp) unreported.delete(name);
  else if (!hasReadings) {
    if (unreported.size >= UNREPORTED_MAX) unreported.clear();
    unreported.add(name);
    ({ rows, page } = await read(true));
  }
  const [subject, knownClass, contradictions, facts, readAt, givers, labelRevision, labelEntries, readings] =
    page.state;
  const [isVerified, createdBlock, decimals, totalSupply, areFactsDue, isCreationDue] = facts ?? NO_FACTS;
  const accounts = rows.map(({ account }) => account);
  const labelOf = areKept
    ? (labels.labelsAt(chain, labelRevision) ?? (await getLabels(database, chain, accounts)))
    : readLabels(labelEntries);
  const firstBlock = createdBlock ?? chain.firstBlock;
  const { coverage, isAskNoted, isChainIndexed } = readSubjectState(chain, subject, firstBlock);
  const standing = { class: knownClass, contradictions: contradictions ?? 0 };
  const resolve = createOwnerResolver({
    ...standing,
    isVerified,
    firstBlock,
    indexedFrom: coverage.indexed.fromBlock,
    indexedTo: coverage.indexed.toBlock,
    isChainIndexed,
    isBuilt: coverage.isBuilt,
  });
  const said = readReadings(readings);
  return {
    ...standing,
    coverage,
    isAskNoted,
    readAt: new Date(readAt),
    decimals,
    totalSupply,
    areFactsDue,
    isCreationDue,
    givers: (givers?.match(/[0-9a-f]{40}/g) ?? []).map((digits) => `0x${digits}` as Address),
    rows: rows.map(({ account, anchorBlock, balance }) => {
      const resolved = resolve({ anchorBlock, balance, reading: said.get(account) ?? null });
      return { account, balance, ...resolved, label: labelOf(account) };
    }),
  };
}

const NO_FACTS = [false, null, null, null, true, false] as const;
