import { videoCall, type VideoContract, videoReply } from '../providers/video-provider.ts';
import { boundedObject } from './bounded-json.ts';
import { paidEndpoint } from './paid-endpoint.ts';

/** A video operation. The contract says all that makes it different from the others. */
export function videoEndpoint(contract: VideoContract) {
  return paidEndpoint(
    contract,
    ({ body, context }) => videoCall(context, contract, Object(body)),
    (started, { body }) => {
      const { required, echoes } = videoReply(contract, started, Object(body));
      return boundedObject(required, echoes);
    },
  );
}
