declare module '@20minutes/s3rver' {
  import type { EventEmitter } from 'node:events';
  import type { Next, S3Request, Store } from './s3-request.ts';

  interface Options {
    address: string;
    port: number;
    silent: boolean;
    directory: string;
    configureBuckets: { name: string; configs: string[] }[];
  }

  export default class S3rver extends EventEmitter {
    constructor(options: Options);
    store: Store;
    middleware: ((request: S3Request, next: Next) => Promise<void>)[];
    run(): Promise<{ address: string; port: number }>;
    close(): Promise<void>;
  }
}
