import type { Dispatcher } from 'undici';
import {
  ACCEPTED_ENCODINGS,
  type BodyLimits,
  type BodySink,
  type BoundedBody,
  openBodySink,
} from './bounded-body.ts';
import type { Hop } from './hop.ts';

interface Answer extends BoundedBody {
  readonly status: number;
  readonly headers: AnswerHeaders;
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface EgressExchange {
  /** @throws undici's errors, ResponseTooLargeError, BadEncodingError, the cancel reason */
  readonly answer: Promise<Answer>;
  cancel(reason: unknown): void;
}

const EMPTY = Buffer.alloc(0);

/** By undici's events: streams and signals would cost more than all the rest. */
export function startExchange(
  dispatcher: Dispatcher,
  options: {
    readonly hop: Hop;
    readonly limits: BodyLimits;
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

function codingOf({ method }: Hop, status: number, headers: AnswerHeaders): string {
  const coding = method === 'HEAD' || status === 204 || status === 304 ? undefined : headers['content-encoding'];
  return coding === undefined ? '' : String(coding).trim().toLowerCase();
}
