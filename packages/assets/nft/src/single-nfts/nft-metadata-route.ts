import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import {
  type ApiContext,
  NotFoundError,
  NotServedError,
  refuseInvalid,
  requireIndexes,
  UNSERVED_OPERATIONS,
} from '@chainstead/http';
import { getCollectionCoverage } from '../collections/collection-coverage.ts';
import { enqueueCollection } from '../collections/request-metadata.ts';
import type { TokenKey } from '../collections/token-rows.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { INCLUDE_PRICES, recordParameters } from '../records/record-parameters.ts';
import { nftMetadataView } from '../records/record-response.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { defineRoute, readTokens, requestTokens } from './read-requested-tokens.ts';

/** An id without an indexed transfer exists if its contract returns an owner or a document. */
export const nftMetadataRoute = defineRoute({
  path: '/api/v2.2/nft/{address}/{token_id}',
  operationId: 'getNFTMetadata',
  tag: 'NFTs',
  summary: 'Get metadata of an NFT',
  description:
    'An NFT with its owner and metadata. For ERC-1155, the owner is the holder that received it last. Unknown metadata is read on request, up to `ON_DEMAND_WAIT_MS`; after that, returns the known data.',
  params: ['address', { token_id: 'tokenId' }],
  query: ['chain', recordParameters({ normalizeMetadata: true }), INCLUDE_PRICES],
  refuseInvalid: refuseUnlessNamed,
  datasets: [nftTransfers.name],
  response: { description: 'The NFT', schema: nftMetadataView.schema },
  errors: [404],
  async answer({ database, services, address, token_id: tokenId, chain, requester, ...wishes }) {
    const { requests, records, holders } = services;
    const requested = { chain, requester: requests.requesterOf(requester) };
    requireIndexes(await holders.missingIndexes());
    await enqueueCollection({ database, requests }, requested, address);
    const token = { address, tokenId };
    const refusal = await requestTokens({ database, requests }, requested, [token]);
    const coverage = await getCollectionCoverage(database, chain, [address]);
    const [held = null] = await holders.find(chain, [token], coverage);
    if (held === null && refusal !== null) throw refusal;
    const key = held ?? (await neverMoved(database, chain, token));
    const { rows, ...shared } = await records.read(chain, [key], { includePrices: wishes.include_prices });
    const [record] = rows;
    if (record === undefined) throw new Error('Every key has its record');
    const indexed = coverage.get(address)?.indexed ?? { fromBlock: null, toBlock: null, complete: false };
    return nftMetadataView.show(indexed, record, shared, wishes, 'all');
  },
});

async function neverMoved(database: Database, chain: Chain, token: TokenKey): Promise<RecordKey> {
  const [reading] = await readTokens(database, chain, [token]);
  const { status, hasUri } = reading ?? { status: null, hasUri: false };
  if (status === 'known' || hasUri) return { ...token, owner: null, amount: null, blockNumber: null };
  const name = `Token ${token.tokenId} of ${token.address}`;
  if (status === 'none') throw new NotFoundError(`${name} was not found`, { status: 'not-found' });
  const [problem, details] =
    status === 'failed'
      ? [`could not be read on ${chain.key} yet: Chainstead retries automatically`, { status }]
      : [`is not indexed on ${chain.key} yet: it is being read, retry in a moment`, { status: 'indexing' }];
  throw new NotFoundError(`${name} ${problem}`, details);
}

function refuseUnlessNamed(result: Parameters<typeof refuseInvalid>[0], c: ApiContext): undefined {
  const name = c.req.path.split('/').at(-1);
  const unserved = UNSERVED_OPERATIONS.find(
    ({ method, path }) => method === 'GET' && path === `/api/v2.2/nft/{address}/${name}`,
  );
  if (!result.success && unserved !== undefined) throw new NotServedError(unserved);
  refuseInvalid(result, c);
}
