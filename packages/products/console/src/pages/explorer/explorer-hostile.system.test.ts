import { sql } from '@chainstead/db';
import { seedMetadata } from '@chainstead/nft/testing';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { ALICE, APES, ETH, openExplorerStage, TOKEN } from '../../testing/explorer-stage.ts';
import { HOSTILE } from '../../testing/hostile-texts.ts';

const PAGES = [
  `/address/${ALICE}?chain=eth`,
  `/address/${TOKEN}`,
  `/address/${APES}`,
  `/nft/${APES}/1?chain=eth`,
  '/block/1000',
  '/block/2000',
  `/table/nfts?chain=eth&address=${ALICE}`,
];

const stage = stageOfFile(openExplorerStage);
const visitor = madeForFile(() => stage.signIn());

test.each(HOSTILE)('names such as %.24s neither run nor make a page large', async (text) => {
  await stage.database.query(sql`UPDATE tokens SET name = ${text}, symbol = left(${text}, 1000)`);
  await stage.database.query(sql`DELETE FROM nft_token_metadata`);
  const document = {
    name: text,
    description: text,
    image: text,
    attributes: [{ trait_type: text, value: text }],
  };
  for (const id of ['1', '2', '3'])
    await seedMetadata(stage.database, ETH, { address: APES, id }, { uri: text, text: JSON.stringify(document) });
  for (const path of PAGES) {
    const answer = await stage.get(`/console/look-up${path}`, visitor);
    const page = await answer.text();
    expect(answer.status, path).toBe(200);
    expect(page.length, path).toBeLessThan(400_000);
    expect(page, path).not.toMatch(/\p{Cc}(?<![\n])|[\u202a-\u202e\u2066-\u2069]/u);
    for (const [tag] of page.matchAll(/<[a-z][^>]*>/gi)) {
      const bare = tag.replaceAll(/"[^"]*"/g, '""');
      expect(bare, path).not.toMatch(/\s(?:on\w+|style)=|javascript:/i);
      if (tag.startsWith('<img'))
        expect(tag).toMatch(/^<img class="thumb" src="\/console\/look-up\/picture\/eth\/0x/);
    }
    for (const [, address = ''] of page.matchAll(/(?:href|src|action|data-plot)="([^"]*)"/g))
      expect(address, path).toMatch(/^[/#]/);
    expect(page.match(/<script\b/g), path).toHaveLength(
      page.match(/<script defer src="\/console\/assets\//g)?.length ?? 0,
    );
  }
});
