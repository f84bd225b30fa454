# One image for every part that is written in TypeScript: db:deploy, the report service, the refresher, the keys' command
# line. docker-compose.yml says which one a container runs.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages are PostgreSQL and PostgREST for machines without Docker. esbuild, which tsx needs, ships as an
# optional package too; its install script fetches it, and the last line fails the build if it did not.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund \
  && npm cache clean --force \
  && node --import tsx --eval "0"
# .dockerignore lists what comes along. A checkout that was made with umask 077 would be readable to root alone.
COPY . .
RUN chmod -R a+rX .

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# It all belongs to root, so that no process may change it.
COPY --from=dependencies /app .
USER node
CMD ["node", "--import", "tsx", "scripts/report-service.ts", "--help"]
