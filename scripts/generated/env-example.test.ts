import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chainKeys } from '../../apps/chainstead/src/configuration/chain-keys.ts';
import { globalKeys } from '../../apps/chainstead/src/configuration/global-keys.ts';
import { environmentSource, parseConfiguration } from '../../apps/chainstead/src/configuration/index.ts';
import { KEY_GROUPS } from '../../apps/chainstead/src/configuration/key-facts.ts';
import { renderEnvExample, settingsOf } from './env-example.ts';
import { renderSettingsPage } from './settings-page.ts';

const text = renderEnvExample();
const SETTINGS = KEY_GROUPS.flatMap((group) => settingsOf(group, 'ETH'));

describe('.env.example', () => {
  it('in the repository matches the schema (npm run generate)', () => {
    expect(readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')).toBe(text);
  });

  it('is a valid configuration with every line taken in, without a warning', () => {
    const { warnings, configuration } = parse(parseEnv(text.replaceAll(/^#([A-Z_]+=)/gm, '$1')));
    expect(warnings).toEqual([]);
    expect(configuration.chains.map(({ chain }) => chain.key)).toEqual(['eth', 'base']);
  });
});

describe('docs/reference/settings.md', () => {
  const page = renderSettingsPage();

  it('names every key', () => {
    const named = page.matchAll(/^### ([A-Z_]+?)(?:_\\<CHAIN>)?$/gm).map((match) => match[1]);
    const keys = [...Object.keys(globalKeys.shape), ...Object.keys(chainKeys.shape)];
    expect([...named].toSorted()).toEqual(keys.toSorted());
  });

  it('has defaults and examples that are valid together, without a warning', () => {
    const values = SETTINGS.map(({ name, facts }) => [name, facts.default ?? facts.example]);
    const { warnings, configuration } = parse(Object.fromEntries(values));
    expect(warnings).toEqual([]);
    expect(configuration.chains.map(({ chain }) => chain.key)).toEqual(['eth', 'base']);
  });
});

function parse(variables: Parameters<typeof environmentSource>[0]) {
  return parseConfiguration([{ ...environmentSource(variables), isOwn: true }]);
}
