/** Some values are read after the first request for them: which responses show all of them. */

/** What no final response has. */
const UNREAD: readonly string[] = [
  ...['"SYNCING"', '"complete": false'],
  ...['"token_uri": null', '"metadata": null', '"nft_metadata": null', '"last_metadata_sync": null'],
  ...['"rarity_rank": null', '"collection_logo": null', '"synced_at": null'],
  ...['"created_at": null', '"block_number": null', '"blockNumber": null'],
];

/** By operation. */
const FINAL: Readonly<Record<string, string>> = {
  getWalletTokenBalances: '"total_supply": "5000014"',
  GetJobs: '"done"',
  GetLogs: '"success"',
  GetStats: '"totalWebhooksDelivered": 1',
  GetStatsByStreamId: '"totalWebhooksDelivered": 1',
  getNFTTraitsByCollection: '"count": 7',
  getNFTTraitsByCollectionPaginate: '"count": 7',
  getNFTByContractTraits: '"name": "Gallery Cats"',
  getNFTMetadata: '"name": "Gallery Cat #1"',
  getAggregatedTokenPairStats: '"total_active_pairs": 3',
};

interface ShownResponse {
  readonly operation: string;
  readonly text: string;
}

/** @returns what the responses still lack, as `operation: part` */
export function missingParts(responses: readonly ShownResponse[]): readonly string[] {
  const texts = new Map(responses.map(({ operation, text }) => [operation, text]));
  return [
    ...responses.flatMap(({ operation, text }) =>
      UNREAD.filter((part) => text.includes(part)).map((part) => `${operation}: no ${part}`),
    ),
    ...Object.entries(FINAL)
      .filter(([operation, part]) => !texts.get(operation)?.includes(part))
      .map(([operation, part]) => `${operation}: ${part}`),
  ];
}
