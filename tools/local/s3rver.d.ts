declare module '@20minutes/s3rver' {
  import type { EventEmitter } from 'node:events';
  import type { S3Request } from './s3-conditions.ts';

  interface Options {
    address: string;
    port: number;
    silent: boolean;
    directory: string;
    configureBuckets: { name: string; configs: string[] }[];
  }

  export default class S3rver extends EventEmitter {
    constructor(options: Options);
    middleware: ((request: S3Request, next: () => Promise<void>) => Promise<void>)[];
    run(): Promise<{ address: string; port: number }>;
    close(): Promise<void>;
  }
}
