import { type ReadRequest, readRequests } from '../protocol/read-requests.ts';
import { BATCH_TOO_LARGE, type RpcErrorObject } from '../protocol/rpc-errors.ts';
import { errorText } from '../protocol/write-answer.ts';
import type { Reply } from './reply.ts';

export function refuseBody(body: Buffer, reply: Reply, error: RpcErrorObject): void {
  const read = readRequests(body.toString());
  if (read.kind === 'batch-too-large') {
    reply.sendRefusal(400, BATCH_TOO_LARGE.message, errorText('null', BATCH_TOO_LARGE));
    return;
  }
  if (read.kind === 'single') {
    reply.sendText(200, answerTo(read.request, error));
    return;
  }
  const answers = read.requests.map((request) => answerTo(request, error)).filter((answer) => answer !== '');
  reply.sendText(200, answers.length === 0 ? '' : `[${answers.join(',')}]`);
}

function answerTo(request: ReadRequest, error: RpcErrorObject): string {
  if ('error' in request) return errorText(request.id, request.error);
  return request.id === null ? '' : errorText(request.id, error);
}
