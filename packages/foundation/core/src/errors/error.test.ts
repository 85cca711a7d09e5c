import { describe, expect, it } from 'vitest';
import { ChainsteadError, errorText } from './error.ts';

class ExampleError extends ChainsteadError {}

describe('ChainsteadError', () => {
  it('is named after its class and says the remedy after the sentence', () => {
    const cause = new Error('socket closed');
    const error = new ExampleError({
      code: 'EXAMPLE',
      message: 'The example failed',
      facts: { block: 7 },
      remedy: 'Try another one',
      retryable: true,
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toBe('The example failed. Try another one');
    expect(error).toMatchObject({
      name: 'ExampleError',
      code: 'EXAMPLE',
      facts: { block: 7 },
      remedy: 'Try another one',
      retryable: true,
      cause,
    });
  });

  it('has no facts, remedy or cause that was not given', () => {
    const error = new ExampleError({ code: 'EXAMPLE', message: 'The example failed', retryable: false });
    expect(error.message).toBe('The example failed');
    expect(error.facts).toEqual({});
    expect(error.remedy).toBeUndefined();
    expect('cause' in error).toBe(false);
  });
});

it('errorText reads anything that was thrown', () => {
  expect(errorText(new Error('sentence'))).toBe('sentence');
  expect(errorText('text')).toBe('text');
  expect(errorText(undefined)).toBe('undefined');
  expect(errorText({ toString: () => 'object' })).toBe('object');
});
