/** No threads: the compiled curve loads only once per process. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineError } from '@chainstead/core';
import {
  PACKED_SIGNATURE_BYTES,
  PACKED_SIGNER_BYTES,
  type RecoverSigners,
} from '@chainstead/proof/packed-signatures';

const ENTRY = fileURLToPath(new URL('../signer-process.ts', import.meta.url));
const SIGNATURES_PER_PART = 32;
/** One core is for reading and writing. */
const PROCESSES = Math.max(1, Math.min(availableParallelism() - 1, 8));

export interface SignerProcesses {
  readonly recover: RecoverSigners;
  close(): Promise<void>;
}

export class SignerProcessError extends defineError('SIGNER_PROCESS_ENDED', (how: string) => ({
  message: `A process that recovers senders from signatures ended (${how}). A new process replaces it, and the block is fetched again`,
  facts: { how },
  retryable: true,
})) {}

/** Started on demand. One that ends fails its work, and another takes its place. */
export function createSignerProcesses(processes: number = PROCESSES): SignerProcesses {
  const running = new Set<SignerProcess>();

  function leastBusy(): SignerProcess {
    const [first] = [...running].toSorted((one, other) => one.load() - other.load());
    if (first !== undefined && (first.load() === 0 || running.size >= processes)) return first;
    const started = startSignerProcess(() => running.delete(started));
    running.add(started);
    return started;
  }

  return {
    async recover(signatures) {
      const count = signatures.length / PACKED_SIGNATURE_BYTES;
      const parts = Math.max(1, Math.min(processes, Math.floor(count / SIGNATURES_PER_PART)));
      const perPart = Math.ceil(count / parts);
      const signers = new Uint8Array(count * PACKED_SIGNER_BYTES);
      const recoverPart = async (from: number): Promise<void> => {
        const part = signatures.subarray(
          from * PACKED_SIGNATURE_BYTES,
          (from + perPart) * PACKED_SIGNATURE_BYTES,
        );
        signers.set(await leastBusy().recover(part), from * PACKED_SIGNER_BYTES);
      };
      await Promise.all(Array.from({ length: parts }, (_, index) => recoverPart(index * perPart)));
      return signers;
    },
    async close() {
      await Promise.all([...running].map((one) => one.end()));
    },
  };
}

interface SignerProcess {
  load(): number;
  readonly recover: RecoverSigners;
  end(): Promise<void>;
}

interface Question {
  readonly bytes: number;
  readonly answer: PromiseWithResolvers<Uint8Array>;
}

function startSignerProcess(onEnd: () => void): SignerProcess {
  const child = fork(ENTRY, [], {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = Promise.withResolvers<void>();
  /** In the order of their responses. */
  const questions: Question[] = [];
  let load = 0;
  const fail = (how: string): void => {
    onEnd();
    for (const { answer } of questions.splice(0)) answer.reject(new SignerProcessError(how));
    ended.resolve();
  };
  /** An idle one does not keep this process alive. */
  const hold = (isBusy: boolean): void => {
    for (const held of [child, child.channel]) held?.[isBusy ? 'ref' : 'unref']();
  };
  child.on('message', (signers) => {
    const question = questions.shift();
    if (question === undefined) return;
    load -= question.bytes;
    if (questions.length === 0) hold(false);
    question.answer.resolve(signers as Uint8Array);
  });
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => fail(signal ?? `exit code ${code}`));
  return {
    load: () => load,
    recover(signatures) {
      const bytes = signatures.byteLength;
      const answer = Promise.withResolvers<Uint8Array>();
      questions.push({ bytes, answer });
      load += bytes;
      hold(true);
      // Unsent messages fail with the end of the process.
      child.send(signatures, () => undefined);
      return answer.promise;
    },
    async end() {
      hold(true);
      child.kill('SIGKILL');
      await ended.promise;
    },
  };
}
