import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chainKeys } from '../../apps/chainstead/src/configuration/chain-keys.ts';
import { globalKeys } from '../../apps/chainstead/src/configuration/global-keys.ts';
import { environmentSource, parseConfiguration } from '../../apps/chainstead/src/configuration/index.ts';
import { renderEnvExample } from './env-example.ts';

const text = renderEnvExample();

describe('.env.example', () => {
  it('in the repository matches the schema (npm run generate)', () => {
    expect(readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')).toBe(text);
  });

  it('names every key', () => {
    const named = text.matchAll(/^#([A-Z_]+)=/gm).map((match) => match[1]);
    const keys = [...Object.keys(globalKeys.shape), ...Object.keys(chainKeys.shape).map((key) => `${key}_ETH`)];
    expect([...named].toSorted()).toEqual(keys.toSorted());
  });

  it('is a valid configuration with every line taken in, without a warning', () => {
    const uncommented = text.replaceAll(/^#([A-Z_]+=)/gm, '$1');
    const variables = parseEnv(uncommented);
    // The example says where a bounded run ends; head is where it begins.
    const { warnings, configuration } = parseConfiguration([{ ...environmentSource(variables), isOwn: true }]);
    expect(warnings).toEqual([]);
    expect(configuration.chains.map(({ chain }) => chain.key)).toEqual(['eth', 'base']);
  });
});
