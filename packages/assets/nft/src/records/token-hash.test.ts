import { parseAddress } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { tokenHash, tokenHashInSql } from './record-response.ts';

const scratch = scratchOfFile();

test.each([
  ['0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d', '1234', 'ab96a59f7d41a8648adee2f63d1386ce'],
  ['0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb', '9082', 'fffdaced3ddfb220d9124289a518bb97'],
  ['0x879279a63dfb64ff0ae5342117a4ced69ba0880b', '3', '5f502723dd3b60413ee565fba661f960'],
])('the hash of %s %s is what the hosted provider gives, here and in SQL', async (text, tokenId, expected) => {
  const address = parseAddress(text);
  expect(tokenHash({ address, tokenId })).toBe(expected);
  const [row] = await scratch.database.query<{ hash: string }>(
    sql`SELECT ${tokenHashInSql(sql`${addressBytes(address)}::bytea`, sql`${tokenId}::numeric`)} AS hash`,
  );
  expect(row?.hash).toBe(expected);
});
