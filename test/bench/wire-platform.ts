// The platform of the wire figure, in a process of its own, so that its side of a handshake does not count. Tells its
// port, and then, whenever it is asked, how many TLS connections have been made so far.
import { startMediaHost } from '../support/media-host.ts';

const { port, serverNames } = await startMediaHost((request, response) => {
  request.resume().once('end', () => response.end('{"messages":[{"id":"wamid.1"}]}'));
});
process.on('message', () => process.send?.(serverNames.length));
process.on('disconnect', () => process.exit());
process.send?.(port);
