#!/usr/bin/env Rscript
# A client of the Single Audit API. Needs R 4.1 or newer, and the packages httr2 and jsonlite.
# Each command is a function. To use one in your own script, copy it with the functions above it.

for (package in c("httr2", "jsonlite")) {
  if (requireNamespace(package, quietly = TRUE)) next
  message("error: ", package, " is not installed: install.packages(\"", package, "\")")
  quit(status = 1)
}
suppressPackageStartupMessages(library(httr2))

api_url <- Sys.getenv("API_URL", "http://localhost:8000")
app_url <- Sys.getenv("APP_URL", "http://localhost:8001")
api_key <- Sys.getenv("API_KEY", "DEMO_KEY")
page_size <- Sys.getenv("PAGE_SIZE", "20000")
# The version of the API that this program was written for.
api_version <- "v1_1_0"

tries <- 5
timeout_seconds <- 90
longest_wait_seconds <- 3600

# Print amounts in full, not as 1e+05, and names with accents even if the locale is C.
options(scipen = 999)
if (!l10n_info()[["UTF-8"]]) invisible(suppressWarnings(Sys.setlocale("LC_CTYPE", "C.UTF-8")))

# Sends a request. Retries after 429, and GET requests also after 5xx and after a lost connection.
# Signals data_set_changed for 412: a new data set was published after the ETag that was sent as If-Match.
send <- function(request, is_get = TRUE) {
  request <- request |>
    req_timeout(timeout_seconds) |>
    req_error(is_error = \(answer) FALSE)
  # httr2 itself must not retry: it has no longest wait, and old versions wait even after the last try.
  request <- suppressMessages(req_retry(request, is_transient = \(answer) FALSE, backoff = \(attempt) 0))
  for (attempt in seq_len(tries)) {
    wait <- 2^(attempt - 1)
    answer <- tryCatch(req_perform(request), error = \(error) error)
    if (inherits(answer, "error")) {
      problem <- paste("no response from the service:", root_message(answer))
      can_repeat <- is_get
    } else {
      status <- resp_status(answer)
      if (status < 300) return(answer)
      if (status == 412) stop(errorCondition("The data set has changed.", class = "data_set_changed"))
      problem <- paste0(status, ": ", read_message(answer))
      can_repeat <- status == 429 || (is_get && status >= 500)
      retry_after <- resp_header(answer, "retry-after")
      if (grepl("^[0-9]+$", retry_after %||% "")) wait <- as.numeric(retry_after)
    }
    if (!can_repeat || attempt == tries || wait > longest_wait_seconds) break
    message(problem, " (again in ", wait, " s)")
    Sys.sleep(wait)
  }
  stop(problem, call. = FALSE)
}

`%||%` <- function(value, otherwise) if (is.null(value)) otherwise else value

root_message <- function(error) {
  while (!is.null(error$parent)) error <- error$parent
  conditionMessage(error)
}

read_message <- function(answer) {
  error <- tryCatch(resp_body_json(answer), error = \(error) NULL)
  if (is.null(error$message)) resp_status_desc(answer) else paste(c(error$message, error$hint), collapse = " ")
}

# A request to the API. It follows no redirect, because that would send the key to another host.
api_request <- function(path) {
  request(api_url) |>
    req_url_path_append(path) |>
    req_headers(`x-api-key` = api_key, `accept-profile` = paste0("api_", api_version)) |>
    req_options(followlocation = FALSE)
}

# Calls on_page with each page of one data set. With a filter, the query needs an order that ends with unique columns.
# Signals data_set_changed if another data set is published in between: discard the rows read so far.
read_pages <- function(table, query, on_page, accept = "application/json") {
  offset <- 0
  etag <- NULL
  repeat {
    page <- api_request(table) |>
      req_url_query(!!!query, limit = page_size, offset = as.character(offset)) |>
      req_headers(accept = accept, `if-match` = etag) |>
      send()
    # "0-19999/*", or "*/*" past the end.
    range <- sub("/.*", "", resp_header(page, "content-range"))
    if (range == "*") return(invisible())
    on_page(page)
    offset <- as.numeric(sub(".*-", "", range)) + 1
    etag <- resp_header(page, "etag")
  }
}

start_again_on_change <- function(work) {
  for (attempt in seq_len(tries)) {
    result <- tryCatch(list(work()), data_set_changed = \(condition) NULL)
    if (!is.null(result)) return(result[[1]])
    message("A new data set was published. Starting again.")
  }
  stop("A new data set was published during each of ", tries, " tries.", call. = FALSE)
}

# All rows of a query as a data frame, with the columns of `select` even if there are no rows.
read_rows <- function(table, query) {
  start_again_on_change(\() {
    names <- strsplit(query$select, ",")[[1]]
    pages <- list(as.data.frame(sapply(names, \(name) logical(), simplify = FALSE)))
    read_pages(table, query, \(page) {
      pages[[length(pages) + 1]] <<- resp_body_json(page, simplifyVector = TRUE)
    })
    do.call(rbind, pages)
  })
}

# Writes a temporary file and renames it, so that the file is either complete or unchanged.
replace_file <- function(path, write) {
  part <- sprintf("%s.%d.part", path, Sys.getpid())
  on.exit(unlink(part))
  result <- write(part)
  if (!file.rename(part, path)) stop("cannot write ", path, call. = FALSE)
  invisible(result)
}

# The reports of a year and a state.
query_reports <- function(audit_year, state) {
  read_rows("general", list(
    select = "report_id,auditee_name,fac_accepted_date,total_amount_expended",
    audit_year = paste0("eq.", audit_year),
    auditee_state = paste0("eq.", state),
    order = "report_id"
  ))
}

# A bulk file, or the manifest.
fetch_file <- function(name) {
  request(app_url) |> req_url_path_append("public-data", name) |> send()
}

# The lines of a bulk file.
read_lines <- function(page, count = -1) {
  lines <- gzcon(rawConnection(resp_body_raw(page)))
  on.exit(close(lines))
  readLines(lines, count)
}

# Writes all rows of a table as CSV. The file appears when it is complete. All its rows come from one data set.
walk_table <- function(table, path) {
  replace_file(path, \(part) start_again_on_change(\() {
    out <- file(part, "wb")
    on.exit(close(out))
    is_first <- TRUE
    read_pages(table, list(), accept = "text/csv", on_page = \(page) {
      bytes <- resp_body_raw(page)
      # The first line of each page has the column names.
      if (!is_first) bytes <- bytes[-seq_len(match(charToRaw("\n"), bytes))]
      is_first <<- FALSE
      writeBin(bytes, out)
    })
    # The API's CSV has no column names if there are no rows; the bulk file has them.
    if (is_first) writeLines(read_lines(fetch_file(paste0(table, ".csv.gz")), 1), out)
  }))
}

# If more reports than this changed, all reports are requested again.
most_changes <- 10000
reports_a_request <- 500

sync_columns <- c(
  report_id = "character", fac_accepted_date = "character", audit_year = "character",
  auditee_uei = "character", auditee_name = "character", total_amount_expended = "numeric"
)

# Updates a CSV file to the public reports of the live data set. Returns how many reports it requested. Safe to repeat.
#
# The app's manifest lists the reports that differ between one data set and the next. The ID of the file's data set is in
# <path>.data_set, which is written last, so that an interrupted run only requests some reports again.
sync_reports <- function(path) {
  noted <- paste0(path, ".data_set")
  result <- start_again_on_change(\() {
    manifest <- fetch_file("manifest.json") |> resp_body_json()
    ids <- NULL
    if (file.exists(path) && file.exists(noted)) ids <- list_changes(manifest, readLines(noted, 1))
    if (is.null(ids)) {
      all <- read_reports(manifest$data_set)
      return(list(rows = all, asked = NROW(all), data_set = manifest$data_set))
    }
    stored <- read.csv(path, colClasses = sync_columns, na.strings = "", fileEncoding = "UTF-8")
    batches <- split(ids, ceiling(seq_along(ids) / reports_a_request))
    came <- do.call(rbind, lapply(unname(batches), \(batch) read_reports(manifest$data_set, batch)))
    list(rows = rbind(stored[!stored$report_id %in% ids, ], came), asked = length(ids), data_set = manifest$data_set)
  })
  rows <- result$rows
  if (is.null(rows)) rows <- as.data.frame(lapply(sync_columns, vector, length = 0))
  replace_file(path, \(part) write.csv(rows, part, row.names = FALSE, na = "", fileEncoding = "UTF-8"))
  replace_file(noted, \(part) writeLines(result$data_set, part))
  result$asked
}

# The reports that differ between a data set and the live one; NULL if they are unknown or too many.
list_changes <- function(manifest, data_set) {
  if (identical(data_set, manifest$data_set)) return(character())
  # After a rollback, a data set may have been live twice. Only the changes after the last time count.
  start <- Position(\(step) identical(step$from, data_set), manifest$changes, right = TRUE)
  if (is.na(start)) return(NULL)
  steps <- manifest$changes[start:length(manifest$changes)]
  if (sum(vapply(steps, \(step) step$added + step$changed + step$removed, 0)) > most_changes) return(NULL)
  # A header, and lines such as 2023-06-GSAFAC-0000000001,changed
  ids <- lapply(steps, \(step) sub(",.*", "", read_lines(fetch_file(step$name))[-1]))
  sort(unique(unlist(ids)))
}

# Public reports of the manifest's data set: all, or only the reports with these IDs.
read_reports <- function(data_set, ids = NULL) {
  query <- list(select = paste(names(sync_columns), collapse = ","), is_public = "is.true", order = "report_id")
  if (!is.null(ids)) query$report_id <- paste0("in.(", paste(ids, collapse = ","), ")")
  pages <- list()
  read_pages("general", query, \(page) {
    # "<id>"; published="<time>"
    if (!startsWith(resp_header(page, "data-set"), paste0("\"", data_set, "\""))) {
      # The manifest is updated within seconds of a publication.
      Sys.sleep(1)
      stop(errorCondition("The data set has changed.", class = "data_set_changed"))
    }
    pages[[length(pages) + 1]] <<- resp_body_json(page, simplifyVector = TRUE)
  })
  do.call(rbind, pages)
}

# Gets a report's PDF. For a suppressed report, this takes a Tribal key and three steps.
download_report <- function(report_id, path) {
  # 1. The submission; 404 if there is no such report.
  submission <- api_request("general") |>
    req_url_query(report_id = paste0("eq.", report_id)) |>
    send() |>
    resp_body_json(simplifyVector = TRUE)

  # 2. For a suppressed report, a one-time access_uuid, valid until expires_at.
  target <- report_id
  if (!submission$is_public) {
    access <- api_request("rpc/request_file_access") |>
      req_headers(`content-profile` = paste0("api_", api_version)) |>
      req_body_json(list(report_id = report_id)) |>
      send(is_get = FALSE) |>
      resp_body_json()
    target <- paste0("ota/", access$access_uuid)
  }

  # 3. A redirect to a signed URL. No key is sent.
  pdf <- request(app_url) |>
    req_url_path_append("dissemination/report/pdf", target) |>
    send() |>
    resp_body_raw()
  if (!identical(head(pdf, 5), charToRaw("%PDF-"))) stop("The downloaded file is not a PDF.", call. = FALSE)
  replace_file(path, \(part) writeBin(pdf, part))
  invisible(submission)
}

usage <- "Usage: client.R query YEAR STATE        print the reports of a year and a state
       client.R walk TABLE FILE         write a whole table to a file
       client.R sync FILE               update a file to the live data set
       client.R download REPORT-ID FILE get a report's PDF (if it is suppressed, with a Tribal key)

All files except PDFs are CSV.
Environment: API_URL, APP_URL, API_KEY (DEMO_KEY), PAGE_SIZE (20000, the maximum)."

main <- function(arguments) {
  if (!grepl("^[1-9][0-9]{0,4}$", page_size) || as.numeric(page_size) > 20000) {
    stop("PAGE_SIZE must be a number from 1 to 20000.", call. = FALSE)
  }
  for (address in c(api_url, app_url)) {
    if (!grepl("^https?://[^/]", address)) {
      stop(address, " should be a URL such as http://localhost:8000.", call. = FALSE)
    }
  }
  command <- paste(head(arguments, 1), length(arguments))
  if (identical(command, "query 3")) {
    write.csv(query_reports(arguments[2], arguments[3]), row.names = FALSE, na = "")
  } else if (identical(command, "walk 3")) {
    walk_table(arguments[2], arguments[3])
    message("Wrote ", arguments[2], " to ", arguments[3], ".")
  } else if (identical(command, "sync 2")) {
    asked <- sync_reports(arguments[2])
    message("Requested ", asked, " reports. ", arguments[2], " is up to date.")
  } else if (identical(command, "download 3")) {
    submission <- download_report(arguments[2], arguments[3])
    message("Wrote ", submission$report_id, " of ", submission$auditee_name, " to ", arguments[3], ".")
  } else if (identical(command, "--help 1")) {
    cat(usage, "\n", sep = "")
  } else {
    message(usage)
    quit(status = 2)
  }
}

# Runs only as a program, not when loaded with source().
if (sys.nframe() == 0) {
  # The error repeats what a warning says.
  tryCatch(suppressWarnings(main(commandArgs(trailingOnly = TRUE))), error = \(error) {
    message("error: ", gsub("\n", " ", conditionMessage(error)))
    quit(status = 1)
  })
}
