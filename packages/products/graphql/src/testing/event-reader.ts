import { EXAMPLE_KEY } from '@chainstead/http/testing';

/** An open subscription. */
export interface EventReader {
  readonly status: number;
  /** Returns the next result; null: the server ended the stream. */
  next(): Promise<StreamedResult | null>;
  close(): Promise<void>;
}

export interface StreamedResult {
  readonly data?: Record<string, { readonly nodes: readonly Record<string, unknown>[] } | null> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
  readonly extensions?: {
    readonly chain_id: string;
    readonly from_block: string;
    readonly to_block: string;
    readonly is_replacement: boolean;
  };
}

/** Opens a subscription over server-sent events. */
export async function subscribe(
  url: string,
  query: string,
  variables?: object,
  key = EXAMPLE_KEY,
): Promise<EventReader> {
  const left = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    body: JSON.stringify({ query, variables }),
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-api-key': key },
    signal: left.signal,
  });
  const events = readEvents(response);
  return {
    status: response.status,
    async next() {
      const { done, value } = await events.next();
      return done === true ? null : value;
    },
    async close() {
      left.abort();
      try {
        await events.return(undefined);
      } catch (error) {
        // A read that was open ends with the abort.
        if (error !== left.signal.reason) throw error;
      }
    },
  };
}

async function* readEvents(response: Response): AsyncGenerator<StreamedResult, void, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
      if (lines.includes('event: complete')) return;
      if (lines.includes('event: next') && data !== undefined) yield JSON.parse(data);
    }
  }
}
