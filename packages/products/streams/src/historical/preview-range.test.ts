import { createChainRegistry } from '@chainstead/chains';
import { describe, expect, test } from 'vitest';
import { exampleConfig } from '../records/testing/example-config.ts';
import type { PreviewBlock } from '../stream-services.ts';
import { PREVIEW_BLOCKS_MAX, previewRange } from './preview-range.ts';

const HEAD = 60;
/** Every third block matches. Its number of logs is its last digit. */
const everyThird: PreviewBlock = async ({ blockNumber }) => {
  if (blockNumber > HEAD) return { found: false };
  if (blockNumber % 3 > 0) return { found: true, body: null };
  return {
    found: true,
    body: { block: { number: `${blockNumber}` }, abi: [{}], logs: Array(blockNumber % 10).fill({}), txs: [] },
  };
};
const request = {
  chain: createChainRegistry().get('eth'),
  config: exampleConfig(),
  addresses: [],
};

describe('the preview of a range', () => {
  test('counts what matched, shows the first webhooks to the byte, and names blocks that are not there', async () => {
    const preview = await previewRange(everyThird, { ...request, range: { from: 3, to: 62 } });
    const matching = Array.from({ length: 20 }, (_, index) => 3 * (index + 1));
    expect(preview).toMatchObject({
      looked: 60,
      absent: [61, 62],
      matched: 20,
      items: { logs: matching.reduce((sum, number) => sum + (number % 10), 0), txs: 0 },
    });
    expect(preview.items).not.toHaveProperty('abi');
    expect(preview.webhooks.map(({ blockNumber }) => blockNumber)).toEqual(matching.slice(0, 10));
    expect(preview.webhooks[0]?.body).toBe('{"block":{"number":"3"},"abi":[{}],"logs":[{},{},{}],"txs":[]}');
  });

  test('ends when it took too long, and says up to where it came', async () => {
    const preview = await previewRange(everyThird, { ...request, range: { from: 0, to: 59 } }, -1);
    expect(preview).toMatchObject({ looked: 8, matched: 3 });
  });

  test('is refused for more blocks than one looks at', async () => {
    const range = { from: 1, to: PREVIEW_BLOCKS_MAX + 1 };
    await expect(previewRange(everyThird, { ...request, range })).rejects.toMatchObject({
      code: 'PREVIEW_TOO_LONG',
      status: 400,
    });
  });
});
