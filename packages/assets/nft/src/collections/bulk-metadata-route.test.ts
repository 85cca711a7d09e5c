import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { cover } from '../wallet-nfts/testing/seeded-wallet.ts';
import { addressOf, exampleCollection } from './testing/example-contracts.ts';
import { ask, eth, NOTHING_SAID, openMetadataStage } from './testing/metadata-api.ts';

const [CATS, DOGS, NONE] = [addressOf(1), addressOf(2), addressOf(3)];

const stage = stageOfFile(openMetadataStage);
const api = madeForFile(() => stage.openApi());
beforeAll(async () => {
  stage.contracts.set(CATS, exampleCollection('erc721', { name: 'Cats', symbol: 'CAT' }));
  stage.contracts.set(DOGS, exampleCollection('erc1155', { name: 'Dogs' }));
  await cover(stage.scratch.database, eth, 7, 100);
  await stage.startWorker();
});

async function post(body: unknown, query = '') {
  const response = await api.request(`/api/v2.2/nft/metadata${query}`, {
    method: 'POST',
    headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

describe('several collections', () => {
  test('are told of as by themselves, in the order of the request; what is none is left out', async () => {
    const { status, body, headers } = await post({
      addresses: [DOGS, NONE, CATS, DOGS.toUpperCase().replace('0X', '0x')],
    });
    expect(status).toBe(200);
    expect(body).toEqual([(await ask(api, `${DOGS}/metadata`)).body, (await ask(api, `${CATS}/metadata`)).body]);
    expect(body).toMatchObject([
      { token_address: DOGS, contract_type: 'ERC1155', name: 'Dogs', ...NOTHING_SAID },
      { token_address: CATS, contract_type: 'ERC721', symbol: 'CAT' },
    ]);
    expect(
      ['x-indexed-from-block', 'x-indexed-to-block', 'x-indexed-complete'].map((name) => headers.get(name)),
    ).toEqual(['7', '100', 'false']);
  });

  test('have prices where those are asked for', async () => {
    const { body } = await post({ addresses: [CATS] }, '?include_prices=true');
    expect(body).toEqual([(await ask(api, `${CATS}/metadata?include_prices=true`)).body]);
    expect(body).toMatchObject([{ last_sale: null, floor_price: null }]);
  });
});
