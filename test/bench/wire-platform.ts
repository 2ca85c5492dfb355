// This is the platform of the wire figure, in a process of its own, so that its part of a handshake is not counted. It
// sends its port, and on request the number of TLS connections so far.
import { startMediaHost } from '../support/media-host.ts';

const { port, serverNames } = await startMediaHost((request, response) => {
  request.resume().once('end', () => response.end('{"messages":[{"id":"wamid.1"}]}'));
});
process.on('message', () => process.send?.(serverNames.length));
process.on('disconnect', () => process.exit());
process.send?.(port);
