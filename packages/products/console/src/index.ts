/** The operators' interface in the browser. Start reading at console.ts. */

export { type Console, type ConsoleOptions, createConsole } from './console.ts';
export type { AbiSource } from './pages/contracts/contract-form.ts';
