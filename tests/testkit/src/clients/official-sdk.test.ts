import { expect, test } from 'vitest';
import { startOfficialSdk } from './official-sdk.ts';

test('each start has settings of its own', async () => {
  const first = await startOfficialSdk({ apiKey: 'first', streamsSecret: 'one' });
  const second = await startOfficialSdk({ apiKey: 'second', streamsSecret: 'two' });
  expect(first.Moralis.Core.config.get('streamsSecret')).toBe('one');
  expect(second.Moralis.Core.config.get('streamsSecret')).toBe('two');
});
