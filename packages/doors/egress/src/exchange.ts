import type { Dispatcher } from 'undici';
import { ACCEPTED_ENCODINGS, type BodyLimits, type BodySink, type BoundedBody, openBodySink } from './bounded-body.ts';
import type { Hop } from './hop.ts';

interface Answer extends BoundedBody {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: AnswerHeaders;
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface EgressExchange {
  /** @throws what undici says, ResponseTooLargeError, BadEncodingError, the reason of its cancellation */
  readonly answer: Promise<Answer>;
  /** Ends it at any stage, unless it has ended. */
  cancel(reason: unknown): void;
}

const EMPTY = Buffer.alloc(0);

/** Reads the response by undici's events: a stream and a signal for each request would cost more than all the rest. */
export function startExchange(
  dispatcher: Dispatcher,
  options: {
    readonly hop: Hop;
    readonly limits: BodyLimits;
    /** Whether the body is to be read; it is empty otherwise. */
    readonly wantsBody: (status: number, headers: AnswerHeaders) => boolean;
  },
): EgressExchange {
  const { hop, limits, wantsBody } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let connection: Dispatcher.DispatchController | undefined;
  let sink: BodySink | undefined;
  let isOver = false;

  function hangUp(): void {
    isOver = true;
    sink?.end();
    connection?.abort(new Error('The rest of the response is not needed'));
  }
  function fail(reason: unknown): void {
    if (isOver) return;
    reject(reason);
    hangUp();
  }

  dispatcher.dispatch(dispatchOptions(hop), {
    onRequestStart(controller) {
      connection = controller;
      // It was cancelled while it waited for a connection.
      if (isOver) hangUp();
    },
    onResponseStart(controller, status, headers) {
      if (status < 200) return;
      const answered = (body: BoundedBody): void => {
        if (isOver) return;
        resolve({ status, headers, ...body });
        if (body.truncated) hangUp();
        else isOver = true;
      };
      const events = { done: answered, fail, ready: () => controller.resume() };
      if (wantsBody(status, headers)) sink = openBodySink(codingOf(hop, status, headers), limits, events);
      else answered({ bytes: EMPTY, truncated: true });
    },
    onResponseData(controller, chunk) {
      if (sink?.add(chunk) === false) controller.pause();
    },
    onResponseEnd: () => sink?.end(),
    onResponseError: (_controller, error) => fail(error),
  });
  return { answer: promise, cancel: fail };
}

function dispatchOptions({ url, method, headers, body }: Hop): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
    body: body ?? null,
  };
}

/** Without a body there is nothing to decompress, whatever the header says. */
function codingOf({ method }: Hop, status: number, headers: AnswerHeaders): string {
  const coding = method === 'HEAD' || status === 204 || status === 304 ? undefined : headers['content-encoding'];
  return coding === undefined ? '' : String(coding).trim().toLowerCase();
}
