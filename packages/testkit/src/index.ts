export {
  createScratchDatabase,
  type ScratchDatabase,
  type ScratchServer,
  startScratchServer,
} from './scratch-database.ts';
