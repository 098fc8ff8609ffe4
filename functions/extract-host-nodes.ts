// The queue's messages: a version's host nodes are read out of its archive; every ten minutes what is due goes there
import { extractArchive } from '../lib/uploads/extract-archive.ts';
import { extractionEvents } from '../lib/uploads/extraction-events.ts';
import { handOverExtractions } from '../lib/uploads/hand-over-extractions.ts';

export const handler = extractionEvents({ extract: extractArchive, handOverDue: handOverExtractions });
