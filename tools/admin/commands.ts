import type { Command } from './command.ts';
import * as history from './commands/history.ts';
import * as indexFiles from './commands/index-files.ts';
import * as limits from './commands/limits.ts';
import * as members from './commands/members.ts';
import * as nodeVersions from './commands/node-versions.ts';
import * as nodes from './commands/nodes.ts';
import * as notifications from './commands/notifications.ts';
import * as publishers from './commands/publishers.ts';
import { numbers } from './commands/numbers.ts';
import * as tokens from './commands/tokens.ts';
import * as requests from './commands/requests.ts';
import * as trusts from './commands/trusts.ts';
import { run as upgrade } from './upgrade.ts';
import * as usage from './commands/usage.ts';
import * as work from './commands/work.ts';

/** Every command, in the order of the help. A new command is one line here. */
export const commands: Record<string, Command> = {
  'publisher create': publishers.create,
  'publisher list': publishers.list,
  'publisher show': publishers.show,
  'publisher update': publishers.update,
  'publisher rename': publishers.rename,
  'publisher merge': publishers.merge,
  'publisher ban': publishers.ban,
  'publisher unban': publishers.unban,
  'member list': members.list,
  'member add': members.add,
  'member remove': members.remove,
  'person erase': members.erase,
  'token create': tokens.create,
  'token list': tokens.list,
  'token revoke': tokens.revoke,
  'trust add': trusts.add,
  'trust list': trusts.list,
  'trust remove': trusts.remove,
  'node list': nodes.list,
  'node show': nodes.show,
  'node transfer': nodes.transfer,
  'node limit': nodes.limit,
  'node numbers': numbers,
  'node ban': nodes.ban,
  'node unban': nodes.unban,
  'node-version list': nodeVersions.list,
  'node-version find': nodeVersions.find,
  'node-version show': nodeVersions.show,
  'node-version extract': nodeVersions.extract,
  'node-version flag': nodeVersions.flag,
  'node-version unflag': nodeVersions.unflag,
  'node-version withdraw': nodeVersions.withdraw,
  'node-version restore': nodeVersions.restore,
  'node-version ban': nodeVersions.ban,
  'node-version unban': nodeVersions.unban,
  'index rebuild': indexFiles.rebuild,
  'history publisher': history.ofPublisher,
  'history node': history.ofNode,
  'limit set': limits.set,
  'limit show': limits.show,
  'limit list': limits.list,
  'limit clear': limits.clear,
  'caller block': limits.block,
  'caller unblock': limits.unblock,
  'request show': requests.show,
  'usage sum': usage.sum,
  'usage list': usage.list,
  'usage compare': usage.compare,
  'usage conclude': usage.conclude,
  'notification list': notifications.list,
  'notification show': notifications.show,
  'notification retry': notifications.retry,
  'notification keys': notifications.keys,
  'work list': work.list,
  'work show': work.show,
  'upgrade run': upgrade,
};
