import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';

/** AWS drops idle connections while an instance is frozen, and no timer of ours runs then. */
const maxIdleMs = 5000;

/** The agents of an SDK client. Neither reuses a connection that was idle for seconds: it may be dead. */
export function freshAgents() {
  const options = { keepAlive: true, maxSockets: 50 };
  return {
    httpAgent: endingIdle(new http.Agent(options)),
    httpsAgent: endingIdle(new https.Agent(options)),
  };
}

function endingIdle<Agent extends http.Agent>(agent: Agent): Agent {
  const idleSince = new WeakMap<Duplex, number>();
  const { getName, keepSocketAlive } = agent;
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, Date.now());
    return keepSocketAlive.call(agent, socket);
  };
  // Node calls this right before it takes the last idle socket. It drops destroyed sockets at the front only,
  // so all end if the last is too old, or was stored in the future: clocks are set back.
  agent.getName = (request) => {
    const name = getName.call(agent, request);
    const idle = agent.freeSockets[name] ?? [];
    const isOld = (socket: Duplex) => Math.abs(Date.now() - (idleSince.get(socket) ?? 0)) > maxIdleMs;
    const last = idle.at(-1);
    const firstFresh = idle.findIndex((socket) => !isOld(socket));
    const ended = last && isOld(last) ? idle : idle.slice(0, Math.max(0, firstFresh));
    for (const socket of ended) socket.destroy();
    return name;
  };
  return agent;
}
