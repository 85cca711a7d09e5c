import { describe, expect, it } from 'vitest';
import { createWebhookDisplay, type DemoWebhook } from './demo-stream.ts';

const webhook = (block: string, tokenDecimals = '6'): DemoWebhook => ({
  streamId: 's',
  tag: 'demo-dollars',
  confirmed: false,
  block: { number: block, hash: '0x00' },
  logs: [{}],
  txs: [],
  erc20Transfers: [
    {
      transactionHash: '0x',
      logIndex: '0',
      from: '0xf',
      to: '0xt',
      value: '7729',
      tokenSymbol: 'DUSD',
      tokenDecimals,
    },
  ],
});

function createWorld({ isTTY = false, columns = 60, listsAll = false } = {}) {
  const written: string[] = [];
  const stop = new AbortController();
  let now = 0;
  const show = createWebhookDisplay({
    output: { write: (text) => written.push(text), isTTY, columns },
    clock: { now: () => now, sleep: () => Promise.resolve() },
    listsAll,
    signal: stop.signal,
  });
  return { show, stop, text: () => written.join(''), advance: (ms: number) => (now += ms) };
}

describe('webhooks of the demo', () => {
  it('are shown in place on a terminal, each in one line of its width, until a stop', () => {
    const { show, stop, text } = createWorld({ isTTY: true });
    show(webhook('1'));
    show(webhook('2'));
    expect(text()).not.toContain('\n');
    const lines = text().split('\r\u001b[2K').slice(1);
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.length).toBeLessThan(60);
    expect(lines[1]).toMatch(/^2: webhook {2}demo-dollars {2}block 2 /);
    stop.abort();
    expect(text().endsWith('\n')).toBe(true);
    show(webhook('3'));
    expect(text()).not.toContain('block 3');
  });

  it('are a line now and then where the output is no terminal', () => {
    const { show, text, advance } = createWorld();
    for (const block of ['1', '2', '3']) show(webhook(block));
    advance(30_000);
    show(webhook('4'));
    expect(text().match(/block \d/g)).toEqual(['block 1', 'block 4']);
    expect(text()).toContain('(4 so far)\n');
  });

  it('are all listed when asked for, with amounts in whole tokens', () => {
    const { show, text } = createWorld({ isTTY: true, listsAll: true });
    show(webhook('1'));
    show(webhook('2', '18'));
    show(webhook('3', ''));
    const amounts = text()
      .trim()
      .split('\n')
      .map((line) => /, (.*) from/.exec(line)?.[1]);
    expect(amounts).toEqual(['0.007729 DUSD', '0.000000000000007729 DUSD', '7729 units of a token']);
  });
});
