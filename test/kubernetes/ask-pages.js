// In the pod `front`: asks for pages and bulk files of the app.
const requests = [
  ["/", 200],
  ["/search?q=university", 200],
  ["/totals", 200],
  ["/openapi.json", 200],
  ["/public-data/manifest.json", 200],
  ["/public-data/general.csv.gz", 206, "bytes=0-99"],
  ["/dissemination/public-data/gsa/full/general.csv", 206, "bytes=100-199"],
  ["/dissemination/reports", 404],
];
for (const [path, status, range] of requests) {
  const response = await fetch(`http://127.0.0.1:8001${path}`, { headers: range ? { range } : {} });
  const { length } = await response.text();
  console.log(response.status, path, length);
  if (response.status !== status) throw new Error(`${status} was expected.`);
}
