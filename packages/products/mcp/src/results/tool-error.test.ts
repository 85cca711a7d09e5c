import { describe, expect, it } from 'vitest';
import { routeError } from './tool-result.ts';

describe('an error of a route', () => {
  it('whose data a setting turns off keeps the message with the setting, and is no invalid argument', () => {
    const message = 'Dataset swaps of chain eth is not indexed here: set SWAPS_ETH=all and restart';
    const details = { reason: 'not-indexed', configuration_key: 'SWAPS_ETH' };
    const { texts, isError } = routeError(400, { message, details });
    expect(isError).toBe(true);
    expect(JSON.parse(texts[0] ?? '')).toEqual({
      error: { code: 'NOT_INDEXED', message, details, remedy: expect.stringContaining('name the setting') },
    });
  });

  it('of any other kind with the same status is an invalid argument', () => {
    const { texts } = routeError(400, { message: 'chain must be a known chain' });
    expect(JSON.parse(texts[0] ?? '')).toMatchObject({
      error: { code: 'INVALID_PARAMETER', message: 'chain must be a known chain' },
    });
  });
});
