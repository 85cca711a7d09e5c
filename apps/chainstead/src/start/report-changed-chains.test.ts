import { expect, it, vi } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { reportChangedChains } from './check-ports.ts';

const configurationOf = (CHAINS: string) =>
  parseConfiguration([environmentSource({ CHAINS })], { needsUpstreams: false }).configuration;

it('asks for a restart once a configuration that is read again has other chains', () => {
  const warn = vi.fn();
  const running = configurationOf('eth,polygon');
  reportChangedChains(running, () => configurationOf('polygon,eth'), { warn });
  expect(warn).not.toHaveBeenCalled();
  reportChangedChains(running, () => configurationOf('eth,base'), { warn });
  expect(warn).toHaveBeenLastCalledWith(
    { added: ['base'], removed: ['polygon'] },
    expect.stringContaining('Restart Chainstead'),
  );
  reportChangedChains(running, () => configurationOf('no-such-chain'), { warn });
  expect(warn).toHaveBeenLastCalledWith({ error: expect.any(String) }, expect.stringContaining('invalid'));
});
