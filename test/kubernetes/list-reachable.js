// In a pod of the namespace single-audit: prints what it can connect to.
import net from "node:net";

const servers = [
  ["postgres-rw", 5432],
  ["storage-reader", 7070],
  ["gateway", 8000],
  ["postgrest-reader", 3000],
  ["postgrest-writer", 3000],
  ["report-service", 8001],
  ["report-service", 9100],
  ["counters", 6379],
  ["kubernetes.default.svc", 443],
];
const connect = ([host, port]) =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: 2000 });
    const end = (reached) => {
      socket.destroy();
      resolve(reached);
    };
    socket
      .on("connect", () => end(true))
      .on("timeout", () => end(false))
      .on("error", () => end(false));
  });
for (const server of servers) if (await connect(server)) console.log(server.join(":"));
