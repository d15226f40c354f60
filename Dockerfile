# The image of Daybook. It is not root, and needs to write nowhere but in /home/daybook and /tmp:
#   docker build -t daybook .
#   docker run -d --name daybook --read-only --tmpfs /tmp -v daybook:/home/daybook -p 127.0.0.1:8765:8765 daybook
# .ci/image has the steps, so that they can be tried without Docker (.ci/container).
FROM python:3.12-slim AS build
# What of pyproject.toml's extras is in it, separated by commas: postgres, meaning, heic
ARG EXTRAS=postgres
WORKDIR /src
COPY . .
RUN EXTRAS="$EXTRAS" .ci/image install

FROM python:3.12-slim
COPY .ci/image /tmp/image
RUN /tmp/image finish && rm /tmp/image
COPY --from=build /opt/daybook /opt/daybook
ENV HOME=/home/daybook PATH=/opt/daybook/bin:$PATH PYTHONUNBUFFERED=1 DAYBOOK_WEB_HOST=0.0.0.0
USER 10001:10001
WORKDIR /home/daybook
VOLUME ["/home/daybook"]
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["/opt/daybook/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=8)"]
ENTRYPOINT ["daybook"]
CMD ["gateway"]
